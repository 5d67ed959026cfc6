"""What a run does with a bucket."""

from assay.kinds.http_engine import HttpKeeper

KEEPER = HttpKeeper
