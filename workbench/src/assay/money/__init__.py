"""What storage costs, and which to choose: price books, the catalogue, designs, advice. Pure."""
