"""Cluster in a box: hosts are namespaces of this machine, with shaped links, disks in files, and real servers."""
