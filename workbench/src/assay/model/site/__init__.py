"""Hosts, and the cluster in a box that they may be in."""
