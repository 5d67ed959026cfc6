"""The tables of papers, computed again."""
