"""One document model, written as HTML, CSV, JSON, Parquet and XLSX, and as text for the terminal."""
