"""Where hosts, servers and targets come from: this machine, a list of hosts, or a cluster in a box."""
