"""Results of one or many runs, chosen and grouped by their properties, for tables and charts that an author orders."""
