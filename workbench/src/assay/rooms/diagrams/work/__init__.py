"""What diagrams are made from."""
