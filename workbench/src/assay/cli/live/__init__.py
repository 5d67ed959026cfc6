"""The panel that shows a running measurement on a terminal that can move its cursor."""
