"""`assay ab`: two sides are measured in turns, in one run."""
