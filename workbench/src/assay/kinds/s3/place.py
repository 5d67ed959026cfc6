"""What a run does with a bucket."""

from assay.kinds.http_engine import HttpKeeper
from assay.kinds.place import Claiming, Cleaning


class S3Keeper(HttpKeeper):
    """Looks after a bucket; of objects that are only read nothing is made that could have to be removed."""

    def claim(self, claiming: Claiming) -> None:
        """As `Keeper.claim`."""
        if not self.target.only_read:
            super().claim(claiming)

    def clean(self, directory: str, cleaning: Cleaning) -> list[str]:
        """As `Keeper.clean`."""
        return [] if self.target.only_read else super().clean(directory, cleaning)


KEEPER = S3Keeper
