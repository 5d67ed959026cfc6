"""Commands of money, and what they share: prices, catalogues, advice."""
