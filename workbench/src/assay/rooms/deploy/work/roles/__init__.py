"""What a host of a storage design becomes: roles, made of small steps, as shell scripts."""
