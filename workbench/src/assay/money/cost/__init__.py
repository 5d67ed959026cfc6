"""The catalogue, storage designs, their performance limits, and what they cost."""
