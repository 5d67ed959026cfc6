"""Computes IO500's score of a run that has its phases."""
