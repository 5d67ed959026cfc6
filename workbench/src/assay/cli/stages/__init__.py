"""`assay run --stage`: what is told after a stage, and who accepts it."""
