"""How the help of commands is laid out."""
