"""Price books: dated rows, their sources, and how they are updated."""
