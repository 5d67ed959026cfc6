"""Runs as batch jobs of Slurm: submitted, followed from outside, resumed."""
