"""What a trace says of the work that it recorded."""
