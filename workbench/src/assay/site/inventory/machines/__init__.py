"""Machines as clouds and their tools describe them, in JSON, converted to hosts and groups of Assay."""
