"""The catalogue: what can be rented and what it does, from the files in `catalog_data/`."""

import csv
import difflib
import functools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter

from assay.model.base import AssayError
from assay.model.money.catalog import (
    AnyFileSystem,
    AnyVolume,
    CatalogEntry,
    FileSystemType,
    Instance,
    InstanceDisks,
    ManagedType,
    ObjectClass,
    TableType,
    VolumeType,
    family_of,
)
from assay.model.money.catalog_entry import MIB

DATA = Path(__file__).with_name("catalog_data")
AWS_INSTANCES = DATA / "instances-aws.csv"
GBIT = 10**9 / 8
"""Bytes per second in 1 Gbit/s."""
EBS_BURST_SECONDS = 1800.0
"""Seconds that an instance can burst to its volumes at least once in 24 hours.

Source: docs.aws.amazon.com/AWSEC2/latest/UserGuide/ebs-optimized.html
"""

Some = TypeVar("Some", bound=CatalogEntry)


class Catalog:
    """All entries by name. An instance is read when it is first requested."""

    def __init__(self) -> None:
        self._volumes = _entries("volumes", TypeAdapter[AnyVolume](AnyVolume))
        self._filesystems = _entries("filesystems", TypeAdapter[AnyFileSystem](AnyFileSystem))
        self._objects = _entries("objects", TypeAdapter(ObjectClass))
        self._tables = _entries("tables", TypeAdapter(TableType))
        self._managed = _entries("managed", TypeAdapter(ManagedType))
        self._instances: dict[str, Instance] = {}

    def instance(self, name: str) -> Instance:
        """Return an instance type, such as `i3en.24xlarge`.

        Raises:
            AssayError: There is none of that name.
        """
        found = self._instances.get(name)
        if found is None:
            found = self._instances[name] = self._read_instance(name)
        return found

    def volume(self, name: str) -> VolumeType:
        """Return a volume type, such as `gp3`.

        Raises:
            AssayError: There is no such type.
        """
        return _get(self._volumes, name, "volume type")

    def filesystem(self, name: str) -> FileSystemType:
        """Return a file system type, such as `efs-bursting`.

        Raises:
            AssayError: There is no such type.
        """
        return _get(self._filesystems, name, "file system type")

    def object_class(self, name: str) -> ObjectClass:
        """Return a class of object storage, such as `s3-standard`.

        Raises:
            AssayError: There is no such class.
        """
        return _get(self._objects, name, "object class")

    def managed(self, name: str) -> ManagedType:
        """Return a type of managed service, such as `fsx-openzfs-single-az-2`.

        Raises:
            AssayError: There is no such type.
        """
        return _get(self._managed, name, "managed service")

    def table(self, name: str) -> TableType:
        """Return a table type, such as `dynamodb`.

        Raises:
            AssayError: There is no such type.
        """
        return _get(self._tables, name, "table type")

    def entry(self, name: str) -> CatalogEntry:
        """Return the entry with this name, of any kind.

        Raises:
            AssayError: There is no such entry.
        """
        found = self._services.get(name)
        if found is None and name in self.instance_names():
            found = self.instance(name)
        if found is None:
            raise _unknown(name, "entry of the catalogue", [*self._services, *self.instance_names()])
        return found

    def services(self) -> tuple[CatalogEntry, ...]:
        """Return all entries that are not instances, in the order of the files."""
        return tuple(self._services.values())

    def instance_names(self) -> tuple[str, ...]:
        """Names of all instance types, sorted by family and size."""
        return _instance_names()

    def family(self, name: str) -> tuple[Instance, ...]:
        """Return all sizes of an instance family such as `i3en`, smallest first.

        Raises:
            AssayError: There is no such family.
        """
        names = [each for each in self.instance_names() if family_of(each) == name]
        if not names:
            raise _unknown(name, "instance family", dict.fromkeys(map(family_of, self.instance_names())))
        return tuple(self.instance(each) for each in names)

    @property
    def _services(self) -> dict[str, CatalogEntry]:
        return {**self._volumes, **self._filesystems, **self._objects, **self._tables, **self._managed}

    def _read_instance(self, name: str) -> Instance:
        own, (source, rows) = _own_instances(), _aws_rows()
        if name in own:
            return own[name]
        if name not in rows:
            raise _unknown(name, "instance type", self.instance_names())
        return _aws_instance(rows[name], source)


@functools.cache
def catalog() -> Catalog:
    """Return the catalogue; read once per process."""
    return Catalog()


def _get(entries: Mapping[str, Some], name: str, what: str) -> Some:
    found = entries.get(name)
    if found is None:
        raise _unknown(name, what, entries)
    return found


def _unknown(name: str, what: str, names: Iterable[str]) -> AssayError:
    return AssayError(f"there is no {what} `{name}`", _similar_names(name, tuple(names)))


@functools.lru_cache(maxsize=64)
def _similar_names(name: str, names: tuple[str, ...]) -> str:
    """Return a hint with similar names; cached, because advice looks up the same wrong name for many combinations."""
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(f'`{each}`' for each in near)}?" if near else "`assay catalog list` lists them"


def _yaml(name: str) -> list[Any]:
    """Return the contents of the files NAME.yaml and NAME-*.yaml, in the order of their names."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    paths = sorted(path for path in DATA.glob(f"{name}*.yaml") if path.stem.split("-")[0] == name)
    return [yaml.load(path.read_bytes(), Loader=loader) for path in paths]


def _entries(file: str, kind: TypeAdapter[Some]) -> dict[str, Some]:
    entries = (each for data in _yaml(file) for each in data)
    return {entry.name: entry for entry in map(kind.validate_python, entries)}


@functools.cache
def _own_instances() -> dict[str, Instance]:
    """Instances of the YAML files by name."""
    return {
        each["name"]: Instance.model_validate(each) for written in _yaml("instances") for each in written["instances"]
    }


@functools.cache
def _aws_rows() -> tuple[str, dict[str, dict[str, str]]]:
    """Source, and the rows of `instances-aws.csv` by name; `tools/aws_instances.py` writes them."""
    with AWS_INSTANCES.open(newline="") as file:
        source = file.readline().removeprefix("#").strip()
        return source, {row["name"]: row for row in csv.DictReader(file)}


@functools.cache
def _instance_names() -> tuple[str, ...]:
    (_, rows), own = _aws_rows(), _own_instances()

    def size(name: str) -> tuple[str, int, int, str]:
        family = family_of(name)
        if name in own:
            return family, own[name].vcpus, own[name].memory, name
        return family, int(rows[name]["vcpus"]), int(rows[name]["memory_mib"]) * MIB, name

    return tuple(sorted({*rows, *own}, key=size))


def _aws_instance(row: Mapping[str, str], source: str) -> Instance:
    """An instance type from its row: GB of 10^9 bytes, Gbit/s of all network cards, Mbit/s to volumes."""
    disks = []
    for written in row["disks"].split():
        count, size, kind = re.split("x|GB:", written)
        disks.append(InstanceDisks.model_validate({"count": int(count), "size": int(size) * 10**9, "kind": kind}))
    return Instance(
        name=row["name"],
        vcpus=int(row["vcpus"]),
        memory=int(row["memory_mib"]) * MIB,
        disks=tuple(disks),
        network_baseline=_rate(row["network_baseline_gbps"], GBIT),
        network_burst=_rate(row["network_burst_gbps"], GBIT),
        network_words=row["network_words"],
        source=source,
        note=row["note"],
        **_ebs(row),
    )


def _rate(written: str, unit: float) -> float | None:
    return float(written) * unit if written else None


def _ebs(row: Mapping[str, str]) -> dict[str, Any]:
    """Rates to volumes; nothing of an instance whose volumes share its network."""
    if not row["ebs_baseline_mbps"]:
        return {}
    baseline, burst = int(row["ebs_baseline_mbps"]), int(row["ebs_burst_mbps"])
    return {
        "ebs_baseline": baseline * GBIT / 1000,
        "ebs_burst": burst * GBIT / 1000,
        "ebs_iops_baseline": int(row["ebs_baseline_iops"]),
        "ebs_iops_burst": int(row["ebs_burst_iops"]),
        "ebs_burst_seconds": EBS_BURST_SECONDS if burst > baseline else None,
    }
