"""Engines that `mpirun` or `srun` starts, all with one command, and what they say through the one stream of it."""
