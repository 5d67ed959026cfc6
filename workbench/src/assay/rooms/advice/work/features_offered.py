"""What a design offers besides capacity and rates: protocols, write-once storage, and who runs it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from assay.model.money.design import Design
from assay.rooms.advice.model.need import Need

Protocol = Literal["NFS", "SMB", "S3", "iSCSI"]


@dataclass(frozen=True)
class Offered:
    """What the designs of a family offer.

    Attributes:
        protocols: Protocols that clients can use; a family without any has its own client.
        worm: How it keeps data that cannot be changed or deleted before a date; empty: it cannot.
        source: Where it is stated.
    """

    protocols: tuple[Protocol, ...] = ()
    worm: str = ""
    source: str = "the guide of the file system"


_NETAPP = "https://docs.aws.amazon.com/fsx/latest/ONTAPGuide/what-is-fsx-ontap.html"
_OFFERED: Mapping[str, Offered] = {
    "nfs": Offered(("NFS", "SMB"), source="knfsd, or Samba on the same server"),
    "ceph": Offered(
        ("NFS", "SMB", "S3"), "object lock of its S3 gateway", "https://docs.ceph.com/en/latest/radosgw/s3/"
    ),
    "minio": Offered(("S3",), "object lock", "https://min.io/docs/minio/linux/administration/object-management.html"),
    "array": Offered(("NFS", "SMB", "iSCSI"), source="data sheets of arrays for files and blocks"),
    "san": Offered(("iSCSI",), source="arrays for blocks, over iSCSI or Fibre Channel"),
    "tape": Offered((), "cartridges that are written once", "LTO Ultrium: WORM cartridges, bought as such"),
    "efs": Offered(("NFS",), source="https://docs.aws.amazon.com/efs/latest/ug/whatisefs.html"),
    "fsx-windows": Offered(("SMB",), source="https://docs.aws.amazon.com/fsx/latest/WindowsGuide/what-is.html"),
    "fsx-ontap": Offered(("NFS", "SMB", "iSCSI"), "SnapLock", _NETAPP),
    "fsx-openzfs": Offered(("NFS",), source="https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/what-is-fsx.html"),
    "filestore": Offered(("NFS",), source="https://cloud.google.com/filestore/docs/overview"),
    "netapp-files": Offered(("NFS", "SMB"), source="https://learn.microsoft.com/azure/azure-netapp-files"),
    "netapp-volumes": Offered(("NFS", "SMB"), source="https://cloud.google.com/netapp/volumes/docs"),
    "azure-files": Offered(("NFS", "SMB"), source="https://learn.microsoft.com/azure/storage/files/files-nfs-protocol"),
    "s3": Offered(("S3",), "S3 Object Lock", "https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html"),
    "gcs": Offered(("S3",), "Bucket Lock", "https://cloud.google.com/storage/docs/interoperability and bucket-lock"),
    "blob": Offered(
        (), "immutable storage", "https://learn.microsoft.com/azure/storage/blobs/immutable-storage-overview"
    ),
}
"""Family of designs -> what they offer; a family that is not here has its own client, and nothing written once."""
_SMB_ONLY = Offered(
    ("SMB",), source="https://learn.microsoft.com/azure/storage/files: NFS needs shares on solid-state disks"
)


def offered(design: Design) -> Offered:
    """Return what a design offers."""
    if design.design.startswith("azure-files-hdd"):
        return _SMB_ONLY
    return _OFFERED.get(design.family, Offered())


def has_protocol(wanted: str, design: Design) -> bool:
    """Return whether clients can use a protocol, whose name is in small letters as in a need."""
    return wanted in [name.lower() for name in offered(design).protocols]


def is_managed(design: Design) -> bool:
    """Return whether a provider runs the storage; of attached volumes the instance is the user's own in any case."""
    return design.service is not None or design.is_attached


def lacks_feature(design: Design, need: Need) -> bool:
    """Return whether a design cannot have the protocol, the lock or the operator that a need states."""
    return (
        (need.protocol is not None and not has_protocol(need.protocol, design))
        or (need.worm and not offered(design).worm)
        or (bool(need.managed) and not is_managed(design))
    )
