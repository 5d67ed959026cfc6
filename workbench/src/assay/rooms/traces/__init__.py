"""Traces: what a program asked of storage, recorded by strace or made from what other tools recorded."""
