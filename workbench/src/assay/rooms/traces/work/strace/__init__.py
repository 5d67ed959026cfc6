"""Makes records of a trace from the lines that strace prints."""
