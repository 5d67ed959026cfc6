"""What the environments of runs say: how two differ, and which settings a study wants otherwise."""
