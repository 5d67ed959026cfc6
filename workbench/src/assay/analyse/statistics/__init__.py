"""Statistics of plain numbers, independent of studies and samples."""
