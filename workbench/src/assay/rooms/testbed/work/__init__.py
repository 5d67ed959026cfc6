"""Cluster in a box: hosts are namespaces of this machine, with shaped links, disks in image files, and real servers."""
