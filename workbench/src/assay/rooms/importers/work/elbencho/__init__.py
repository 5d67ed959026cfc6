"""Reads results of elbencho."""
