"""The catalogue, designs, what they can do at most, and what they cost."""
