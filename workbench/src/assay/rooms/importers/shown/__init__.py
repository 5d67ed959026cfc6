"""What reports and `assay show` have on imported runs."""
