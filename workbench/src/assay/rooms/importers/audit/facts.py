"""What is known of the machines that results were measured on, which their outputs do not say."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.money.catalog import Instance
from assay.model.study.axis import fault
from assay.model.units import UnitError, about_size, display_value, format_size, parse_size, parse_throughput
from assay.model.user_files import read_user_file
from assay.model.yaml_files import read_model

GUIDE = "docs/guides/audit.md"
MAX_FILE_BYTES = 1 << 20
MAX_CLIENTS = 1_000_000
MAX_SIZE = 1 << 60
"""Bytes of memory, far more than any machine has."""


def _size(written: object) -> int:
    try:
        size = parse_size(written)
    except UnitError as error:
        raise fault(error.message, error.hint) from None
    if not 0 < size <= MAX_SIZE:
        raise fault(f"{display_value(written)} is the memory of no machine", "write it as 64GiB")
    return size


def _rate(written: object) -> float:
    try:
        rate = parse_throughput(written)
    except UnitError as error:
        raise fault(error.message, error.hint) from None
    if not rate:
        raise fault(f"{display_value(written)} carries nothing", "write it as 10Gb/s")
    return rate


def _count(written: object) -> int:
    if isinstance(written, bool) or not isinstance(written, int) or not 0 < written <= MAX_CLIENTS:
        raise fault(f"{display_value(written)} is no number of hosts", "write how many hosts the tool ran on: 8")
    return written


Count = Annotated[int, BeforeValidator(_count)]
Size = Annotated[int, BeforeValidator(_size)]
_AS_TEXT = PlainSerializer(lambda rate: rate and f"{round(rate)}B/s", when_used="json")
Rate = Annotated[float, BeforeValidator(_rate), _AS_TEXT]


class MachineFacts(Frozen):
    """What is known of the machines.

    Attributes:
        clients: Hosts on which the tool ran; None: one, where the output says that it ran on one.
        client: Instance type of each; the catalogue has its memory and its network.
        memory: Bytes of memory of each client.
        link: Bytes per second of each client's network, each way.
        server_link: Bytes per second of the network of all servers, each way.
        device_read: Bytes per second that all devices behind it can read.
        device_write: Likewise for writing.
    """

    clients: Count | None = None
    client: str = ""
    memory: Size | None = None
    link: Rate | None = None
    server_link: Rate | None = None
    device_read: Rate | None = None
    device_write: Rate | None = None

    def with_client(self) -> "MachineFacts":
        """Return the facts with memory and link of the clients by the catalogue, where the file does not state them.

        Raises:
            AssayError: The catalogue does not know the instance type.
        """
        if not self.client:
            return self
        from assay.money.cost.catalog import catalog

        known: Instance = catalog().instance(self.client)
        found = {
            "memory": self.memory or known.memory,
            "link": self.link or known.network_burst or known.network_baseline,
        }
        return self.model_copy(update=found)

    def stated(self) -> dict[str, object]:
        """Return what is known, by name."""
        return {name: value for name in type(self).model_fields if (value := getattr(self, name))}

    def over(self, other: "MachineFacts | None") -> "MachineFacts":
        """Return these facts, and of others what these do not state."""
        return self if other is None else other.model_copy(update=self.stated())


def facts_by_name(facts: MachineFacts) -> dict[str, str]:
    """Return what is known in words: `memory` -> `64GiB`, `server link` -> `1.25 GB/s`."""
    found = {}
    for name, value in facts.stated().items():
        words = str(value)
        if isinstance(value, float):
            words = f"{about_size(value)}/s"
        elif name == "memory" and isinstance(value, int):
            words = format_size(value)
        found[name.replace("_", " ")] = words
    return found


def read_facts(paths: Sequence[str]) -> MachineFacts:
    """Read files of facts as if they were one.

    Raises:
        AssayError: One cannot be read, or is not right, or two state a fact differently; the message begins with the
            file, and with the line if it is one.
    """
    hint = f"give a file of facts as {GUIDE} describes it"
    known = MachineFacts()
    sources: dict[str, str] = {}
    for path in paths:
        data = read_user_file(path, f"cannot read the facts {path}", hint, MAX_FILE_BYTES)
        found = read_model(MachineFacts, data, path, GUIDE, "facts file")
        for name, value in found.stated().items():
            if getattr(known, name) not in (None, "", value):
                raise AssayError(f"{path}: {name} is another one in {sources[name]}", "let one of the files state it")
            sources.setdefault(name, path)
        known = known.over(found)
    return known.with_client()
