"""Diagrams of what storage consists of: hosts and networks, layers, RAID, frames of protocols, steps of a workflow."""
