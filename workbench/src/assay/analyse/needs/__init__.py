"""Whether results satisfy what is required of the storage: yes, no or undecided."""
