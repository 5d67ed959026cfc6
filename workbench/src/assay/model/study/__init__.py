"""The content of a study."""
