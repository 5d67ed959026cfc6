"""Starts engines, sends them jobs, reads their events, and cleans up after them."""
