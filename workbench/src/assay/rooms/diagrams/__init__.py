"""`diagram` in papers: figures of hosts, networks, disks, layers, frames and workflows."""
