"""Frozen classes of what is built: hosts, disks and mounts of a stack."""
