"""HTML pages about many runs, which `assay serve` shows."""
