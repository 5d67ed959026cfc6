"""What is to be seen of a run while it goes on, on a terminal that can move its cursor."""
