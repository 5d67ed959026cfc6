"""What a profile and an answer are."""
