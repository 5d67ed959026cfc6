"""Reading of price lists and tables, and writing of price books."""
