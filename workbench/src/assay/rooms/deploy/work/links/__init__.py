"""Leased lines of designs as documents: what a provider asks for when one is ordered, with its price."""
