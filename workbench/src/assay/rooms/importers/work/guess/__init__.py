"""A guess at what the columns of a table are."""
