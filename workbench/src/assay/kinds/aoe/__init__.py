"""Disks behind ATA over Ethernet."""
