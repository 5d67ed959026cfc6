"""What the commands of `assay deploy` do."""
