"""Suites that run other tools."""
