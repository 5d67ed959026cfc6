"""What a run does with a table."""

from assay.kinds.http_engine import HttpHandler

HANDLER = HttpHandler
