"""One run from beginning to end: hosts, targets, repeats, judging, ceilings, budget. It reports to a listener."""
