"""Commands of `assay deploy`, one file each."""
