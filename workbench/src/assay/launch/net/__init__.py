"""What looks at the network between hosts: bandwidth, round trips, packet sizes, links; and what ssh says."""
