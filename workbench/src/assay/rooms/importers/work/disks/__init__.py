"""Small tools that measure disks and file systems."""
