"""Compares captured environments: how two differ, and which settings are not as the study wants them."""
