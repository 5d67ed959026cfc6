"""What a run does with a bucket."""

from assay.kinds.handler import Claimer, Cleaner
from assay.kinds.http_engine import HttpHandler


class S3Handler(HttpHandler):
    """Handles a bucket. If existing objects are only read, nothing is made that would have to be removed."""

    def claim(self, claimer: Claimer) -> None:
        """See `TargetHandler.claim`."""
        if not self.target.is_read_only:
            super().claim(claimer)

    def clean(self, directory: str, cleaner: Cleaner) -> list[str]:
        """See `TargetHandler.clean`."""
        return [] if self.target.is_read_only else super().clean(directory, cleaner)


HANDLER = S3Handler
