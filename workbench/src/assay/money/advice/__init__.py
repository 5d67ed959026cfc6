"""From a need to the design that meets it best, and why."""
