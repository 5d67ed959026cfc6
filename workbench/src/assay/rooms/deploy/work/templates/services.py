"""Managed services as storage of a stack: which one a design's family is, and which designs no template can build."""

from collections.abc import Callable
from dataclasses import dataclass

from assay.model.base import AssayError
from assay.model.money.design import S3, Design, FsxLustre, Managed
from assay.rooms.deploy.model.stack_plan import StackPlan
from assay.rooms.deploy.model.storage_facts import StorageFacts
from assay.rooms.deploy.work.templates.buckets import BUCKET_CLASSES, add_bucket, add_table
from assay.rooms.deploy.work.templates.draft import Draft
from assay.rooms.deploy.work.templates.filesystems import (
    EFS_OPTIONS,
    LUSTRE_TYPES,
    ONTAP_TYPES,
    OPENZFS_OPTIONS,
    OPENZFS_TYPES,
    add_efs,
    add_lustre,
    add_ontap,
    add_openzfs,
)


@dataclass(frozen=True)
class ServiceStack:
    """How a service becomes a part of a template.

    Attributes:
        add: Adds its resources and parameters.
        refusal: Returns why no template can build a design, and what to take instead; None: one can.
        client: Role script of the clients.
        mount_type, mount_options: As in /etc/fstab; empty: it is not mounted.
        has_exports: Whether it has a list of addresses that may mount.
    """

    add: Callable[[Draft, StackPlan], StorageFacts]
    refusal: Callable[[Design], tuple[str, str] | None]
    client: str = "client"
    mount_type: str = ""
    mount_options: str = ""
    has_exports: bool = False

    def check(self, design: Design) -> None:
        """Raise an error if no template can build a design.

        Raises:
            AssayError: The design needs what no template has.
        """
        found = self.refusal(design)
        if found is not None:
            raise AssayError(f"design {design.design}: {found[0]}", found[1])


def _type_of(design: Design) -> str:
    service = design.service
    return service.type if isinstance(service, FsxLustre | Managed) else ""


def _none(design: Design) -> None:
    del design


def _lustre_refusal(design: Design) -> tuple[str, str] | None:
    name = _type_of(design)
    if name in LUSTRE_TYPES:
        return None
    return f"no role sets up clients of {name}", f"take a type of: {', '.join(LUSTRE_TYPES)}"


def _zone_refusal(design: Design) -> tuple[str, str] | None:
    name = _type_of(design)
    if name in OPENZFS_TYPES or name in ONTAP_TYPES:
        return None
    return f"{name} needs subnets in two zones, or has no size", "take one in a single zone, such as fsx-openzfs"


def _bucket_refusal(design: Design) -> tuple[str, str] | None:
    service = design.service
    assert isinstance(service, S3)
    if service.copy_class is not None:
        return "its copy is a bucket of another region, which no stack of one region can make", "take the design s3"
    if service.storage_class not in BUCKET_CLASSES:
        return f"a bucket of {service.storage_class} is of another kind, in a zone", "take the design s3 or s3-one-zone"
    return None


SERVICES = {
    "efs": ServiceStack(add_efs, _none, "efs-client", "nfs4", EFS_OPTIONS),
    "fsx-lustre": ServiceStack(add_lustre, _lustre_refusal, "lustre-client", "lustre", "relatime,flock"),
    "fsx-openzfs": ServiceStack(add_openzfs, _zone_refusal, "nfs-client", "nfs4", OPENZFS_OPTIONS),
    "fsx-ontap": ServiceStack(add_ontap, _zone_refusal, "nfs-client", "nfs4", "hard,noatime"),
    "s3": ServiceStack(add_bucket, _bucket_refusal),
    "dynamodb": ServiceStack(add_table, _none),
}
"""Family of a design -> its service."""
