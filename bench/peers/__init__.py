"""One module per program: its command line, and how to read what it says."""
