"""How a study names the machines that generate its load, and the servers of its targets."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from assay.model.frozen import Frozen
from assay.model.site.host import MAX_HOSTS
from assay.model.site.login import parse_logins
from assay.model.site.nodes import expand_nodes
from assay.model.study.axis import fault
from assay.model.units import UnitError, display_value

_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}


ALLOCATION = "allocation"
"""The word for the hosts that a scheduler has allocated to the job in which Assay runs."""
_OF_ALLOCATION = re.compile(rf"{ALLOCATION}(?:\s*!\s*(.+))?")
"""The word, optionally followed by excluded hosts."""


class Hosts(Frozen):
    """The machines that generate the load.

    Attributes:
        nodes: Names or node sets as written, optionally with a user and a port (`bench@node1:2222`), and with an
            inventory also `@GROUP`. Empty: all hosts of the inventory, the clients of the box, or else this
            machine.
        inventory: File that says how to reach them; None if their names suffice.
    """

    nodes: tuple[str, ...] = ()
    inventory: str | None = None

    @property
    def is_allocated(self) -> bool:
        """They are the hosts that a scheduler has allocated."""
        return bool(self._allocation) and self.inventory is None

    @property
    def _allocation(self) -> "re.Match[str] | None":
        return _OF_ALLOCATION.fullmatch(self.nodes[0]) if len(self.nodes) == 1 else None

    @property
    def excluded_hosts(self) -> tuple[str, ...]:
        """Allocated hosts that generate no load: batch3 in `allocation!batch3`."""
        found = self._allocation
        return expand_names((found[1],), "host") if found and found[1] else ()

    @property
    def inventory_value(self) -> object:
        """The value in the form that `assay.site.inventory.hosts.resolve_hosts` reads."""
        nodes = list(self.nodes) or ["localhost"]
        if self.inventory is None:
            return nodes
        return {"inventory": self.inventory, **({"hosts": nodes} if self.nodes else {})}


class HostsField:
    """Annotation of a study's field `hosts`: text, a list, or a mapping with `inventory` and optionally `hosts`."""

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> CoreSchema:
        """Make pydantic read any of the forms, or a `Hosts`."""
        return core_schema.no_info_plain_validator_function(_read)

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the JSON Schema of the forms, for editors."""
        mapping = {
            "type": "object",
            "properties": {"inventory": {"type": "string"}, "hosts": _TEXTS},
            "required": ["inventory"],
            "additionalProperties": False,
        }
        return {"anyOf": [*_TEXTS["anyOf"], mapping]}


def _read(written: object) -> Hosts:
    if isinstance(written, Hosts):
        return written
    if not isinstance(written, Mapping):
        nodes = _texts(written)
        expand_names(nodes, "host")
        return Hosts(nodes=nodes)
    other = sorted((str(key) for key in written if key not in ("inventory", "hosts")), key=str)
    if other:
        raise fault(f"there is no field `{other[0]}` in hosts", "hosts has inventory and hosts")
    inventory = written.get("inventory")
    if not isinstance(inventory, str) or not inventory:
        raise fault(f"{display_value(inventory)} is no inventory file", "write inventory: hosts.yaml")
    return Hosts(nodes=_texts(written["hosts"]) if "hosts" in written else (), inventory=inventory)


def _texts(written: object) -> tuple[str, ...]:
    texts = [written] if isinstance(written, str) else written
    hint = "write a name, a node set such as client[1-8], or a list of such"
    if not isinstance(texts, list) or not texts:
        raise fault(f"{display_value(written)} names no hosts", hint)
    for text in texts:
        if not isinstance(text, str) or not text:
            raise fault(f"{display_value(text)} is not a name of hosts", hint)
    return tuple(texts)


def expand_names(texts: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Return all names of some node sets, in order.

    Args:
        texts: Node sets.
        what: What the names stand for, for messages.

    Raises:
        PydanticCustomError: A text is no node set, or a name comes twice.
    """
    found: list[str] = []
    for text in texts:
        try:
            for login in parse_logins(text):
                _ = login.port
                found += expand_nodes(login.nodes, MAX_HOSTS)
        except UnitError as error:
            raise fault(error.message, error.hint) from None
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise fault(f"{what} {twice} comes twice", f"name each {what} once")
    return tuple(found)


_ADDRESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(:[0-9]{1,5})?|\[[0-9A-Fa-f:.%a-z]+\](:[0-9]{1,5})?")


def _servers(written: object) -> tuple[str, ...]:
    """Read names or addresses, optionally with :PORT; node sets are expanded: `server[1-4]` is four servers."""
    texts = [written] if isinstance(written, str) else written
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        hint = "write a name, a node set such as server[1-4], or a list of such"
        raise fault(f"{display_value(written)} names no servers", hint)
    found = [
        name for text in texts for name in ((text,) if _ADDRESS.fullmatch(text) else expand_names((text,), "server"))
    ]
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise fault(f"server {twice} comes twice", "name each server once")
    return tuple(found)


def _known_servers(written: object) -> tuple[str, ...]:
    return () if written in ([], ()) else _servers(written)


Servers = Annotated[
    tuple[str, ...],
    BeforeValidator(_servers),
    WithJsonSchema(_TEXTS),
]
"""At least one server."""
KnownServers = Annotated[tuple[str, ...], BeforeValidator(_known_servers), WithJsonSchema(_TEXTS)]
"""Servers as far as they are named; may be empty."""
