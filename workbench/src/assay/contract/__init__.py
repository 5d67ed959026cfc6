"""The engine's words in Python: generated classes, and the reader of its output.

Nothing else in the workbench knows what the wire looks like.
"""

SPEC_VERSION = 2
"""Version of the contract that this workbench speaks."""
