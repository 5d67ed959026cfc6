"""Price books, the catalogue, designs, what they cost and which to choose. Pure."""
