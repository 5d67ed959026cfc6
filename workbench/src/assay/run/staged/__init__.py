"""A run that is taken stage by stage: more hosts, tasks or lanes only after what came out before is accepted."""
