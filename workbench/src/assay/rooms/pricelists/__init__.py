"""Room `pricelists`: price books from the price lists of AWS, Azure, Google and from tables."""
