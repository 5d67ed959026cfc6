"""What is known of the machines that results were measured on, which their outputs do not say."""

from typing import Annotated

from pydantic import BeforeValidator

from assay.model.frozen import Frozen
from assay.model.money.catalog import Instance
from assay.model.study.axis import fault
from assay.model.units import UnitError, display_value, parse_size, parse_throughput
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
Rate = Annotated[float, BeforeValidator(_rate)]


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


def read_facts(path: str) -> MachineFacts:
    """Read a file of facts; an empty path is one without any.

    Raises:
        AssayError: It cannot be read, or is not right; the message begins with file and line.
    """
    if not path:
        return MachineFacts()
    hint = f"give a file of facts as {GUIDE} describes it"
    data = read_user_file(path, f"cannot read the facts {path}", hint, MAX_FILE_BYTES)
    return read_model(MachineFacts, data, path, GUIDE, "facts file").with_client()
