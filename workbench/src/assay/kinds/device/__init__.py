"""Whole block devices."""
