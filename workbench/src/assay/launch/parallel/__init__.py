"""Starts the engines of several hosts with one `mpirun` or `srun`, and talks with them through its single stream."""
