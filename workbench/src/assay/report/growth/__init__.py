"""Totals that grow with hosts, tasks or lanes: words, tables and charts."""
