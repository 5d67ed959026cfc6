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


INVENTORY = "inventory"
TOOLS: Mapping[str, tuple[str, ...]] = {
    INVENTORY: (),
    "ansible": (),
    "terraform": ("user",),
    "stack": ("region", "user"),
    "parallelcluster": ("region", "user"),
}
"""Key of `hosts` that says where hosts are described -> further keys that it allows beside `hosts`."""
TOOL_WORDS = {
    INVENTORY: "inventory file",
    "ansible": "inventory file",
    "terraform": "file or folder of Terraform",
    "stack": "name of a stack",
    "parallelcluster": "name of a cluster",
}
_EXAMPLES = {
    INVENTORY: "hosts.yaml",
    "ansible": "inventory.ini",
    "terraform": "outputs.json",
    "stack": "lab1",
    "parallelcluster": "hpc1",
}
_CLOUD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,127}")
_FORMS = {
    "stack": _CLOUD_NAME,
    "parallelcluster": _CLOUD_NAME,
    "region": re.compile(r"[a-z]{2,5}(-[a-z]+)+-[0-9]"),
    "user": re.compile(r"[A-Za-z_][A-Za-z0-9._\\-]*"),
}
"""Texts that go to clouds and their tools."""


class HostTool(Frozen):
    """A tool that knows machines, and what is queried there.

    Attributes:
        tool: A word of `TOOLS`.
        name: File, folder, or name of a stack or cluster.
        region: Region of the cloud; None for the user's own configuration.
        user: User to log in as; None for what the tool says, or the default of ssh.
    """

    tool: str
    name: str
    region: str | None = None
    user: str | None = None


class Hosts(Frozen):
    """The machines that generate the load.

    Attributes:
        nodes: Names or node sets as written, optionally with a user and a port (`bench@node1:2222`), and with an
            inventory also `@GROUP`. Empty: the clients of the inventory or of the box, or else this machine.
        inventory: File that says how to reach them; None if their names suffice, or a tool knows.
        known_by: The tool that says how to reach them; None if a file does, or their names suffice.
    """

    nodes: tuple[str, ...] = ()
    inventory: str | None = None
    known_by: HostTool | None = None

    @property
    def is_allocated(self) -> bool:
        """They are the hosts that a scheduler has allocated."""
        return bool(self._allocation) and not self.is_described

    @property
    def is_described(self) -> bool:
        """A file or a tool says how to reach them."""
        return self.inventory is not None or self.known_by is not None

    @property
    def is_empty(self) -> bool:
        """The study names no hosts."""
        return not self.nodes and not self.is_described

    @property
    def _allocation(self) -> "re.Match[str] | None":
        return _OF_ALLOCATION.fullmatch(self.nodes[0]) if len(self.nodes) == 1 else None

    @property
    def excluded_hosts(self) -> tuple[str, ...]:
        """Allocated hosts that generate no load: batch3 in `allocation!batch3`."""
        found = self._allocation
        return expand_names((found[1],), "host") if found and found[1] else ()


class HostsField:
    """Annotation of a study's field `hosts`: text, a list, or a mapping with one key of `TOOLS` or `inventory`."""

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> CoreSchema:
        """Make pydantic read any of the forms, or a `Hosts`."""
        return core_schema.no_info_plain_validator_function(_read)

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the JSON Schema of the forms, for editors."""
        forms = [
            {
                "type": "object",
                "properties": {word: {"type": "string"}, "hosts": _TEXTS, **{key: {"type": "string"} for key in more}},
                "required": [word],
                "additionalProperties": False,
            }
            for word, more in TOOLS.items()
        ]
        return {"anyOf": [*_TEXTS["anyOf"], *forms]}


AnyHosts = Annotated[Hosts, HostsField()]
"""Hosts as a study writes them."""


def _read(written: object) -> Hosts:
    if isinstance(written, Hosts):
        return written
    if not isinstance(written, Mapping):
        nodes = _texts(written)
        expand_names(nodes, "host")
        return Hosts(nodes=nodes)
    words = [word for word in TOOLS if word in written]
    if len(words) != 1:
        named = f"{' and '.join(words)} are named" if words else "no inventory file and no tool is named"
        raise fault(named, f"write one of {', '.join(TOOLS)}")
    word, allowed = words[0], (words[0], "hosts", *TOOLS[words[0]])
    if other := sorted((str(key) for key in written if key not in allowed), key=str):
        raise fault(f"there is no field `{other[0]}` in hosts", f"{word} goes with {', '.join(allowed[1:])}")
    texts = {key: _plain(written[key], key, word) for key in allowed if key in written and key != "hosts"}
    nodes = _texts(written["hosts"]) if "hosts" in written else ()
    if word == INVENTORY:
        return Hosts(nodes=nodes, inventory=texts[word])
    known_by = HostTool(tool=word, name=texts.pop(word), **texts)
    return Hosts(nodes=nodes, known_by=known_by)


def _plain(written: object, key: str, word: str) -> str:
    """Return the text of a key; it is passed to programs, so that none may look like an option.

    Raises:
        PydanticCustomError: It is no text of that form.
    """
    if not isinstance(written, str) or not written or not written.isprintable():
        what = f"no {TOOL_WORDS[word]}" if key == word else f"no {key}"
        raise fault(f"{display_value(written)} is {what}", f"write {word}: {_EXAMPLES[word]}")
    form = _FORMS.get(key)
    if form is not None and not form.fullmatch(written):
        raise fault(f"{display_value(written)} is no {TOOL_WORDS.get(key, key)}", "use letters, digits and `-`")
    return written


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
