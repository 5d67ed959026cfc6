"""Storage that a site offers to its hosts, which a study may be pointed at."""

from assay.model.frozen import Frozen


class SiteStorage(Frozen):
    """What a stack, or another source of machines, has made to store data.

    Attributes:
        servers: Addresses of the hosts that serve it.
        mount: What clients mount, as in the first field of fstab; empty if there is no file system.
        mount_type: Type of the mount.
        mount_point: Where the clients have it mounted.
        bucket: Name of a bucket of S3; empty without one.
        table: Name of a table of DynamoDB; empty without one.
        region: Region of the cloud; empty if unknown.
    """

    servers: tuple[str, ...] = ()
    mount: str = ""
    mount_type: str = ""
    mount_point: str = ""
    bucket: str = ""
    table: str = ""
    region: str = ""

    @property
    def has_files(self) -> bool:
        """It has a file system."""
        return bool(self.mount or self.mount_point)

    @property
    def about(self) -> str:
        """What it is, for messages."""
        parts = (
            f"{self.mount_type or 'a file system'} {self.mount or self.mount_point}" if self.has_files else "",
            f"bucket {self.bucket}" if self.bucket else "",
            f"table {self.table}" if self.table else "",
        )
        return ", ".join(filter(None, parts)) or "no storage"
