"""Room `serve`: the runs of a folder in a browser."""
