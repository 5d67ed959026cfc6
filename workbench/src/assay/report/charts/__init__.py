"""Vega-Lite specifications, written by hand, one module per kind of chart."""
