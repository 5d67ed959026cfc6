"""Statistics of plain numbers, which know nothing of studies and samples."""
