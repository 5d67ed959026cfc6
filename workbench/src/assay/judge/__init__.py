"""What may be believed of a result: one rule a function, evidence in, verdict out. Pure."""
