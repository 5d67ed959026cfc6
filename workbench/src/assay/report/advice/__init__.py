"""Advice as one page."""
