"""One document model, written as HTML, CSV, JSON, Parquet and XLSX."""
