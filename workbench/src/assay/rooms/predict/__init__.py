"""Room `predict`: what a run says of host counts, rates and sizes that were not measured."""
