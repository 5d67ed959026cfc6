"""Axes and marks of each kind of chart, one module per kind."""
