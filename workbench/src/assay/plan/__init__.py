"""Turns a study into the jobs that answer it. Pure: uses no files, processes or clocks."""
