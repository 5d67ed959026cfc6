"""Traces of what a program asked of storage: their format, as docs/reference/traces.md describes it."""
