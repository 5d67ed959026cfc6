"""Prices, designs, needs and advice."""
