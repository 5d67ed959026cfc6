"""What grows in a study, and in which stages."""
