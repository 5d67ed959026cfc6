"""Whether the sentences of an author agree with the runs of a paper."""
