"""What is known of the machines that results were measured on, which their outputs do not say."""

from typing import Annotated

from pydantic import BeforeValidator, model_validator

from assay.model.frozen import Frozen
from assay.model.money.catalog import Instance
from assay.model.study.axis import fault
from assay.model.units import UnitError, parse_size, parse_throughput
from assay.model.user_files import read_user_file
from assay.model.yaml_files import read_model

GUIDE = "docs/guides/audit.md"
MAX_FILE_BYTES = 1 << 20


def _size(written: object) -> int:
    try:
        return parse_size(written)
    except UnitError as error:
        raise fault(error.message, error.hint) from None


def _rate(written: object) -> float:
    try:
        return parse_throughput(written)
    except UnitError as error:
        raise fault(error.message, error.hint) from None


Size = Annotated[int, BeforeValidator(_size)]
Rate = Annotated[float, BeforeValidator(_rate)]


class MachineFacts(Frozen):
    """What is known of the machines.

    Attributes:
        clients: Hosts on which the tool ran.
        client: Instance type of each; the catalogue has its memory and its network.
        memory: Bytes of memory of each client.
        link: Bytes per second of each client's network, each way.
        server_memory: Bytes of memory of all servers.
        server_link: Bytes per second of the network of all servers, each way.
        device_read: Bytes per second that all devices behind it can read.
        device_write: Likewise for writing.
    """

    clients: int = 1
    client: str = ""
    memory: Size | None = None
    link: Rate | None = None
    server_memory: Size | None = None
    server_link: Rate | None = None
    device_read: Rate | None = None
    device_write: Rate | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "MachineFacts":
        if self.clients < 1:
            raise fault(f"{self.clients} clients", "write how many hosts the tool ran on", "clients")
        return self

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
    hint = f"give a file as {GUIDE} describes it"
    data = read_user_file(path, f"cannot read the facts {path}", hint, MAX_FILE_BYTES)
    return read_model(MachineFacts, data, path, GUIDE, "facts").with_client()
