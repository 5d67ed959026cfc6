"""The catalogue: instances from the AWS data packaged in moto, everything else from the files of `catalog_data/`."""

import difflib
import functools
import gzip
import importlib.metadata
import importlib.util
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter

from assay.model.base import AssayError
from assay.model.extras import how_to_install, is_installed, require
from assay.model.frozen import Frozen
from assay.model.money.catalog import (
    AnyFileSystem,
    AnyVolume,
    Entry,
    FileSystemType,
    Instance,
    LocalDisks,
    ManagedType,
    ObjectClass,
    TableType,
    VolumeType,
    family_of,
)
from assay.model.money.entry import MIB, Size

DATA = Path(__file__).with_name("catalog_data")
PACKAGE = "moto"
"""Only its data about instances is used."""
GBIT = 10**9 / 8
"""Bytes per second in 1 Gbit/s."""
EBS_BURST_SECONDS = 1800.0
"""Seconds that an instance can burst to its volumes at least once in 24 hours.

Source: docs.aws.amazon.com/AWSEC2/latest/UserGuide/ebs-optimized.html
"""

Some = TypeVar("Some", bound=Entry)


class _Correction(Frozen):
    """A correction of packaged instance data that is wrong.

    Attributes:
        disk_size: Bytes of each local disk.
    """

    names: tuple[str, ...]
    disk_size: Size
    why: str


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
            AssayError: There is no such type, or the packaged data is not installed (`has_all_instances` is false).
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

    def entry(self, name: str) -> Entry:
        """Return the entry with this name, of any kind.

        Raises:
            AssayError: There is no such entry.
        """
        found = self._services.get(name)
        if found is None and (name in self.instance_names() or (not has_all_instances() and "." in name)):
            found = self.instance(name)
        if found is None:
            raise _unknown(name, "entry of the catalogue", [*self._services, *self.instance_names()])
        return found

    def services(self) -> tuple[Entry, ...]:
        """Return all entries that are not instances, in the order of the files."""
        return tuple(self._services.values())

    def instance_names(self) -> tuple[str, ...]:
        """Return the names of all instance types, sorted by family and size; see `has_all_instances`."""
        return _instance_names()

    def family(self, name: str) -> tuple[Instance, ...]:
        """Return all sizes of an instance family such as `i3en`, smallest first.

        Raises:
            AssayError: There is no such family, or the packaged data is not installed (`has_all_instances` is false).
        """
        names = [each for each in self.instance_names() if family_of(each) == name]
        if not names:
            _packaged()
            raise _unknown(name, "instance family", dict.fromkeys(map(family_of, self.instance_names())))
        return tuple(self.instance(each) for each in names)

    @property
    def _services(self) -> dict[str, Entry]:
        return {**self._volumes, **self._filesystems, **self._objects, **self._tables, **self._managed}

    def _read_instance(self, name: str) -> Instance:
        own, corrections = _own_instances()
        if name in own:
            return own[name]
        facts = _packaged().get(name)
        if facts is None:
            raise _unknown(name, "instance type", self.instance_names())
        return _instance(name, facts, corrections.get(name))


@functools.cache
def catalog() -> Catalog:
    """Return the catalogue; read once per process."""
    return Catalog()


def has_all_instances() -> bool:
    """Whether the package with the AWS instance data is installed; otherwise only instances of `catalog_data` exist."""
    return is_installed(PACKAGE)


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
def _own_instances() -> tuple[dict[str, Instance], dict[str, _Correction]]:
    files = _yaml("instances")
    corrections = [_Correction.model_validate(each) for content in files for each in content.get("corrections", ())]
    return (
        {each["name"]: Instance.model_validate(each) for content in files for each in content["instances"]},
        {name: each for each in corrections for name in each.names},
    )


@functools.cache
def _packaged() -> dict[str, dict[str, Any]]:
    """Return AWS's answer to DescribeInstanceTypes. Only moto's data file is read: importing moto takes long."""
    require(PACKAGE, "the catalogue of instances")
    spec = importlib.util.find_spec(PACKAGE)
    path = Path(spec.origin).parent / "ec2/resources/instance_types.json.gz" if spec and spec.origin else None
    if path is None or not path.is_file():
        raise AssayError("the package moto has no data of instances", f"{how_to_install((PACKAGE,))} again")
    instances: dict[str, dict[str, Any]] = json.loads(gzip.decompress(path.read_bytes()))
    return instances


@functools.cache
def _instance_names() -> tuple[str, ...]:
    packaged, (own, _) = _packaged() if has_all_instances() else {}, _own_instances()

    def size(name: str) -> tuple[str, int, int, str]:
        family = family_of(name)
        if name in own:
            return family, own[name].vcpus, own[name].memory, name
        facts = packaged[name]
        return family, facts["VCpuInfo"]["DefaultVCpus"], facts["MemoryInfo"]["SizeInMiB"] * MIB, name

    return tuple(sorted({*packaged, *own}, key=size))


@functools.cache
def _source() -> str:
    return f"AWS DescribeInstanceTypes, as packaged in moto {importlib.metadata.version('moto')}"


def _instance(name: str, facts: dict[str, Any], correction: _Correction | None) -> Instance:
    """Convert AWS's units: disk sizes in GB of 10^9 bytes, network of all cards in Gbit/s, EBS in Mbit/s."""
    network, store, ebs = facts["NetworkInfo"], facts.get("InstanceStorageInfo", {}), facts["EbsInfo"]
    cards = network["NetworkCards"]
    limits = ebs.get("EbsOptimizedInfo")
    disks = tuple(
        LocalDisks(
            count=disk["Count"],
            size=correction.disk_size if correction else disk["SizeInGB"] * 10**9,
            kind="nvme" if disk["Type"] == "ssd" and store.get("NvmeSupport") == "required" else disk["Type"],
        )
        for disk in store.get("Disks", [])
    )
    notes = [correction.why] if correction else []
    if limits is None:
        notes.append("volumes share the network of the instance")
    elif ebs.get("EbsOptimizedSupport") == "supported":
        notes.append("the rates to volumes hold if EBS optimization is switched on, which had its own price")
    return Instance(
        name=name,
        vcpus=facts["VCpuInfo"]["DefaultVCpus"],
        memory=facts["MemoryInfo"]["SizeInMiB"] * MIB,
        disks=disks,
        network_baseline=_sum(cards, "BaselineBandwidthInGbps"),
        network_burst=_sum(cards, "PeakBandwidthInGbps"),
        network_words=network["NetworkPerformance"],
        source=_source(),
        note="; ".join(notes),
        **_ebs(limits),
    )


def _sum(cards: list[dict[str, Any]], key: str) -> float | None:
    rates = [card.get(key) for card in cards]
    known = [rate for rate in rates if rate is not None]
    return sum(known) * GBIT if known and len(known) == len(rates) else None


def _ebs(limits: dict[str, Any] | None) -> dict[str, Any]:
    if limits is None:
        return {}
    baseline, burst = limits["BaselineBandwidthInMbps"], limits["MaximumBandwidthInMbps"]
    return {
        "ebs_baseline": baseline * GBIT / 1000,
        "ebs_burst": burst * GBIT / 1000,
        "ebs_iops_baseline": limits["BaselineIops"],
        "ebs_iops_burst": limits["MaximumIops"],
        "ebs_burst_seconds": EBS_BURST_SECONDS if burst > baseline else None,
    }
