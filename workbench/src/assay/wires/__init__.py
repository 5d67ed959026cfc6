"""Measures the links between hosts: bandwidth with iperf3, round trips, packet sizes, interfaces."""
