"""What grows in a study, stage by stage."""
