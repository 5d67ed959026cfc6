"""Room `testbed`: a cluster in a box, of network namespaces, shaped links, disks and real servers."""
