"""What all commands share: printing, options and their defaults, files that they write, help."""
