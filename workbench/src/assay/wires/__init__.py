"""What the links between hosts carry: bandwidth by iperf3, round trips, packet sizes, interfaces."""
