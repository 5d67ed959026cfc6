"""From profiles to studies, and from their results to answers."""
