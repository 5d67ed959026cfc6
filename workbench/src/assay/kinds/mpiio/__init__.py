"""Directories that MPI ranks reach through MPI-IO."""
