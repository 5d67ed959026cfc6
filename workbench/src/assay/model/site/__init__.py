"""Hosts, and the cluster in a box that can provide them."""
