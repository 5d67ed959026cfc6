"""What is predicted, from the results of a run."""
