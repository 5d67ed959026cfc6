"""A disk behind ATA over Ethernet in a study file."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.study.hosts import KnownServers
from assay.model.study.names import Group
from assay.model.study.target import StatedCeilings, Target, TargetService, Text
from assay.model.units import display_value

if TYPE_CHECKING:
    from assay.model.source import FieldFault
    from assay.model.study.study import Workload

_ADDRESS = re.compile(r"e(\d{1,5})\.(\d{1,3})")
_MAX_SHELF, _MAX_SLOT = 65534, 254
_INTERFACE = re.compile(r"(?!\.{1,2}$)[!-.0-~]{1,15}")
"""Interface names that Linux accepts (netdevice(7))."""


def _interfaces(written: object) -> tuple[str, ...]:
    hint = "write the name of a network interface, such as eth1, or a list of up to 8"
    names = [written] if isinstance(written, str) else written
    if not isinstance(names, list | tuple) or not 0 < len(names) <= 8:
        raise fault(f"{display_value(written)} names no interfaces", hint)
    for name in names:
        if not isinstance(name, str) or not _INTERFACE.fullmatch(name):
            raise fault(f"{display_value(name)} is not the name of a network interface", hint)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise fault(f"interface {twice} comes twice", "name each interface once")
    return tuple(names)


def _address(written: object) -> str:
    found = _ADDRESS.fullmatch(written) if isinstance(written, str) else None
    if found is None or int(found[1]) > _MAX_SHELF or int(found[2]) > _MAX_SLOT:
        hint = "write shelf and slot, such as e1.0; `assay aoe discover` lists the disks"
        raise fault(f"{display_value(written)} is not the address of a disk", hint)
    return f"e{int(found[1])}.{int(found[2])}"


Interfaces = Annotated[
    tuple[str, ...],
    BeforeValidator(_interfaces),
    WithJsonSchema(
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 8}]}
    ),
]
Address = Annotated[
    str, BeforeValidator(_address), WithJsonSchema({"type": "string", "pattern": r"^e[0-9]{1,5}\.[0-9]{1,3}$"})
]
Window = Annotated[int | None, SingleField(axis.whole(1, 256, optional=True))]
Sectors = Annotated[int | None, SingleField(axis.whole(1, 255, optional=True))]
Timeout = Annotated[int, SingleField(axis.duration(10**8, 3600 * 10**9))]


class AoeTarget(Target):
    """A whole disk behind ATA over Ethernet. The engine speaks the protocol itself, without kernel driver or cache."""

    noun: ClassVar[str] = "a disk behind ATA over Ethernet"
    groups: ClassVar[tuple[Group, ...]] = ("data",)
    rank: ClassVar[int] = 7
    keeps_data: ClassVar[bool] = True
    through_kernel: ClassVar[bool] = False
    through_mpi: ClassVar[bool] = False
    is_directory: ClassVar[bool] = False
    whole_device: ClassVar[bool] = False
    has_files: ClassVar[bool] = False
    is_made_by_engines: ClassVar[bool] = False
    times_out_when_lost: ClassVar[bool] = True
    examples: ClassVar[dict[str, str]] = {"interfaces": "eth1", "address": "e1.0"}

    kind: Literal["aoe"]
    interfaces: Interfaces = Field(
        description="Network interfaces of the host that generates the load, on each of which the disk answers."
    )
    address: Address = Field(description="Shelf and slot of the disk, such as e1.0. All data on it is overwritten.")
    servers: KnownServers = Field(
        (), description="Names or addresses of the hosts that serve it, so that the links to them can be measured."
    )
    window: Window = Field(
        None, description="Commands in flight on one interface. Left out: as many as the disk has buffers."
    )
    sectors: Sectors = Field(
        None, description="Maximum of sectors of 512 bytes in a frame. Left out: as many as disk and MTU allow."
    )
    timeout: Timeout = Field(
        60 * 10**9, description="A command without an answer for this long fails; until then its frame is sent again."
    )
    ceilings: StatedCeilings = Field(StatedCeilings(), description="Limits that it cannot exceed, from a data sheet.")
    description: Text = Field("", description="Description of the target, for the report.")

    @property
    def shelf(self) -> int:
        """Shelf number, the first part of its address."""
        return int(self.address[1:].partition(".")[0])

    @property
    def slot(self) -> int:
        """Slot number, the second part of its address."""
        return int(self.address.partition(".")[2])

    @classmethod
    def protocol(cls) -> str:
        """See `Target.protocol`."""
        return "ATA over Ethernet"

    @property
    def services(self) -> tuple[TargetService, ...]:
        """Servers that the study names; AoE itself uses no IP addresses."""
        return tuple(TargetService(server, None) for server in self.servers)

    @property
    def path(self) -> str:
        """Address and interfaces, for people to read."""
        return f"{self.address} on {' and '.join(self.interfaces)}"

    def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[FieldFault]":
        """See `Target.crosscheck`: nothing to add to the checks by the engine's capabilities."""
        yield from ()
