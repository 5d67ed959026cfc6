"""The page that `assay advise` writes."""
