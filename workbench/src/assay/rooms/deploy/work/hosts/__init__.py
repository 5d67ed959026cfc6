"""Setting up hosts that exist: which role and values each has, what its script reports, and how it is shown."""
