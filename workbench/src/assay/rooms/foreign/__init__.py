"""Room `foreign`: studies from command lines of IOR and mdtest."""
