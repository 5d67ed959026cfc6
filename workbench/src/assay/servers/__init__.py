"""Servers, one description each, whatever the hosts are that they run on."""
