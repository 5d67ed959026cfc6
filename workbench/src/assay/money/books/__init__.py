"""Price books: dated rows, where they come from, and how they are renewed."""
