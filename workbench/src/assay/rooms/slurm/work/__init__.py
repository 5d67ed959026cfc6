"""Runs as batch jobs of Slurm: submitting, following and resuming them."""
