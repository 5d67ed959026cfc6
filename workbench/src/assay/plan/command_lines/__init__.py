"""The options of IOR, mdtest, elbencho and warp as they stand on a command line."""
