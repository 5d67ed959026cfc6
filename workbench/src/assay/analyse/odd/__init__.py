"""What looks odd in results, in words."""
