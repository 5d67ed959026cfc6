"""Judges how far a result can be trusted: each rule is a function from evidence to an answer. Pure."""
