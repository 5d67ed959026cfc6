"""Readers of iperf 2 and iperf 3: text, CSV and JSON."""
