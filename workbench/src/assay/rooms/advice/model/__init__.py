"""What advice reads and returns: needs, answers, what would change them."""
