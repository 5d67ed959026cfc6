"""What a run does with a bucket."""

from assay.kinds.http_engine import HttpKeeper
from assay.kinds.place import Claiming, Cleaning


class S3Keeper(HttpKeeper):
    """Handles a bucket. If existing objects are only read, nothing is made that would have to be removed."""

    def claim(self, claiming: Claiming) -> None:
        """See `Keeper.claim`."""
        if not self.target.only_read:
            super().claim(claiming)

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """See `Keeper.clean`."""
        return [] if self.target.only_read else super().clean(directory, cleaning)


KEEPER = S3Keeper
