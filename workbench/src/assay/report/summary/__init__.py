"""The first page of a report: the answer, what it follows from, the cost, caveats and the next step."""
