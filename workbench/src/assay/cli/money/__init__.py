"""Commands about prices, catalogues and advice, and their shared parts."""
