"""Room `slurm`: runs as batch jobs of Slurm."""
