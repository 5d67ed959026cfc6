"""The options of IOR and mdtest as they stand on a command line."""
