"""What differs between the clouds when a design becomes a plan of hosts: sizes, units, and which services there are."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from assay.model.money.design import Design

Architecture = Literal["amd64", "arm64"]
MIB, MB = 2**20, 10**6


class ServiceChoice(Protocol):
    """A managed service, as far as a plan must know it."""

    @property
    def client(self) -> str:
        """Role script of the clients."""

    @property
    def mount_type(self) -> str:
        """Type of the mount; empty: it is not mounted."""

    @property
    def mount_options(self) -> str:
        """Options of the mount."""

    @property
    def has_exports(self) -> bool:
        """Whether it has a list of addresses that may mount."""

    def check(self, design: Design) -> None:
        """Raise an error if no template can build a design."""


@dataclass(frozen=True)
class CloudRules:
    """A cloud in which hosts of a design are.

    Attributes:
        providers: Providers of designs that are built there; None: those of any.
        engine: What builds it.
        families: File systems that are built on hosts.
        services: Family of a design -> managed service.
        client_instance: Default type of the clients, by processor architecture.
        max_volumes: Volumes that a host has at most.
        rate_unit: Bytes per second in the unit of a volume's throughput.
        types: Pattern of the names of instance types.
        arm: Pattern at the beginning of the names of instance types with Arm processors.
    """

    providers: tuple[str | None, ...]
    engine: str
    families: tuple[str, ...]
    services: Mapping[str, ServiceChoice]
    client_instance: Mapping[Architecture, str]
    max_volumes: int
    rate_unit: int
    types: str
    arm: str

    def architecture(self, instance: str) -> Architecture:
        """Return the processor architecture of an instance type, by its name."""
        return "arm64" if re.match(self.arm, instance) else "amd64"

    @property
    def known(self) -> str:
        """Families that it builds, for messages."""
        return ", ".join(sorted({*self.families, *self.services}))
