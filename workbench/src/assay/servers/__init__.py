"""Descriptions of storage servers, one file each, independent of the hosts that they run on."""
