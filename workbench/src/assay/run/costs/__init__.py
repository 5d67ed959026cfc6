"""What a run costs: its budget, and what it has used of the limits of targets."""
