"""Pages about many runs, which `assay serve` shows: text in, HTML out."""
