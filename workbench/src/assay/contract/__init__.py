"""The contract with the engine in Python: generated classes, and the reader of the engine's output.

No other folder of the workbench knows the format of jobs and events.
"""

SPEC_VERSION = 2
"""Version of the contract that this workbench uses."""
