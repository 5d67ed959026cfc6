"""From a need to the design that satisfies it best, and the reasons."""
