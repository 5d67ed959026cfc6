"""The parts of `assay serve`: the folder of the runs, the answers to requests, and the server."""
