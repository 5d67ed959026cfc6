"""Ceilings of a run: what memory, caches, devices and the engine can do at most, before its cases and between them."""
