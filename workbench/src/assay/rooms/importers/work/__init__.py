"""Reads the outputs of other tools, one module each, and makes runs of them."""
