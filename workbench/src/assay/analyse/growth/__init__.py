"""How results grow with the hosts, tasks and lanes that make them, and how much they vary meanwhile."""
