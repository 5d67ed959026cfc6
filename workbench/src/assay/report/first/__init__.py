"""The first page of a report: the question, the answer, what decides it, the cost, what to mind, what to do next."""
