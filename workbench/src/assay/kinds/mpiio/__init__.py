"""Directories that ranks of an MPI reach through its MPI-IO."""
