"""Kinds of servers: each is one YAML file in this folder or in $ASSAY_SERVERS; no other code names them."""

import functools
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.site.box_servers import BoxServer
from assay.model.study.axis import fault
from assay.model.units import choices_hint
from assay.model.user_files import read_user_file
from assay.model.user_text import MAX_FILE_BYTES
from assay.model.yaml_files import read_model

FOLDER = Path(__file__).parent
OWN_FOLDER = "ASSAY_SERVERS"
"""Environment variable: folder of the user's own descriptions. They hold commands, so no box file may set it."""
GUIDE = "docs/guides/testbed.md"

Words = tuple[str, ...]
Thing = Literal["export", "device", "bucket", "table", "user", "peer"]
OFFERS: dict[str, str] = {"export": "exports", "device": "devices", "bucket": "buckets", "table": "tables"}
"""Thing that a server can offer -> key of a server in a box file that lists those things."""
ACCESS, SECRET_KEY = "assay", "assay-in-a-box"
"""Access keys for servers that require some. No secret: everyone in the box or on this machine may use them."""
PLACE_KEYS = {
    "data": ("keeps its data in a directory", "/export"),
    "mount": ("mounts its exports at a directory", "/files"),
    "source": ("passes on the data of another server", "server1:my-bucket"),
}
"""Key of a server in a box file that is also a word of descriptions -> what such a server does, and an example."""
_PASSWORD = re.compile(r"\$(password\b|\{password\})")


class CommandStep(Frozen):
    """A command in a description."""

    run: Words = Field(min_length=1, description="The command.")
    each: Thing | None = Field(None, description="Run it once for each of these.")
    on: Literal["all", "first"] = Field("all", description="first: on the first host with a server of this kind only.")
    after: Literal["own", "all"] = Field("own", description="all: when all servers of the box answer.")
    on_restart: bool = Field(False, description="For steps of `after_ready`: run it again after each restart.")
    stdin: str = Field("", description="Text on its standard input; the only place for $password.")


def _parse_step(written: Any) -> Any:
    """Return a step as a mapping; a plain list is a command without other keys."""
    return {"run": written} if isinstance(written, list | tuple) else written


Steps = tuple[Annotated[CommandStep, BeforeValidator(_parse_step)], ...]


class ServerKind(Frozen):
    """How to run a server."""

    kind: str = Field(description="Its name, which is also that of the file.")
    description: str = Field(description="What it is, one line.")
    packages: Words = Field((), description="Debian packages; the version of the first is recorded.")
    python: Words = Field((), description="Python packages in addition to Assay; the version of the first is recorded.")
    install_hint: str = Field(
        "", description="Where to get programs that are in no package, for the message if they are missing."
    )
    programs: Words = Field((), description="Programs that must be installed.")
    version: Words = Field((), description="Command that prints the version where there is no package of that name.")
    find: dict[str, Words] = Field({}, description="Word -> patterns of paths; the first that exists is its value.")
    options: dict[str, Words] = Field({}, description="Word -> its possible values; the first is the default.")
    number_options: dict[str, tuple[int, int]] = Field(
        {},
        description="Option that is a whole number -> its minimum and maximum; its word is empty if it is not set.",
    )
    copies: dict[str, int] = Field(
        {},
        description="Value of an option -> copies that it keeps, each on another host; the number of disks must be a"
        " multiple.",
    )
    min_hosts: dict[str, int] = Field({}, description="Value of an option -> least number of hosts that it needs.")
    same_names: bool = Field(False, description="All hosts that run it must offer the same names.")
    private_folders: Words = Field((), description="Directories of the machine that each host gets for itself, empty.")
    folders: Words = Field((), description="Directories to make in the host before the server starts.")
    configuration: str = Field("", description="Text of its configuration.")
    export: str | None = Field(None, description="Part of the configuration for each export.")
    device: str | None = Field(None, description="Part of the configuration for each device.")
    bucket: str | None = Field(None, description="Part of the configuration for each bucket.")
    table: str | None = Field(None, description="Part of the configuration for each table.")
    user: str | None = Field(None, description="Part of the configuration for each user.")
    peer: str | None = Field(None, description="Part of the configuration for each other server of this kind.")
    before: Steps = Field((), description="Commands that are run once, before the first start.")
    start: Steps = Field((), description="Commands that start it in the background; none if nothing runs.")
    foreground: bool = Field(
        False, description="The last start command does not go into the background itself: Assay puts it there."
    )
    after_ready: Steps = Field(
        (), description="Commands that are run once, when it answers; with after: all, when all do."
    )
    port: int | None = Field(None, ge=1, le=65535, description="TCP port in a box, for the word $port.")
    ready: Words | None = Field(
        None, description="What must answer: PORT, PORT/PROGRAM/VERSION, http://$address:PORT; []: `after_ready` waits."
    )
    pidfile: str = Field("", description="File in the host with its process id; empty if nothing runs.")
    signal: str = Field("TERM", description="Signal that stops it.")
    in_memory: bool = Field(False, description="It keeps its data in memory only.")
    only_in_box: str = Field("", description="Why it must not run outside of a box; empty if it may.")

    @model_validator(mode="after")
    def _whole(self) -> "ServerKind":
        if not (self.packages or self.python or self.install_hint):
            raise fault("how to install the server is missing", "write packages, python or install_hint", "packages")
        if self.ready is None and not self.needs("mount"):
            raise fault(
                "how to find out that the server is ready is missing", "write for example ready: [2049]", "ready"
            )
        for key in ("before", "start"):
            if any(step.after == "all" for step in getattr(self, key)):
                raise fault("only steps of `after_ready` wait for all servers", "move the step to `after_ready`", key)
            if any(step.on_restart for step in getattr(self, key)):
                raise fault("only steps of `after_ready` may have `on_restart`", "move the step to `after_ready`", key)
        if bool(self.start) != bool(self.pidfile) or (self.foreground and not self.start):
            raise fault(
                "a server that is started needs a file for its process id",
                "write both start and pidfile, or none",
                "start",
            )
        last = self.start[-1] if self.start else None
        if self.foreground and last and (last.each is not None or last.on != "all" or last.stdin):
            hint = "leave each, on and stdin out of the last command of `start`"
            message = "with `foreground`, the server is one process on each host, without standard input"
            raise fault(message, hint, "start")
        if any(_PASSWORD.search(text) for text in self.texts):
            hint = "command lines are visible to others, and files remain: write stdin: to put it on standard input"
            raise fault("$password is used outside of `stdin`", hint)
        return self

    @property
    def steps(self) -> tuple[CommandStep, ...]:
        """The commands of all stages."""
        return (*self.before, *self.start, *self.after_ready)

    @property
    def box_only_reason(self) -> str:
        """Why it cannot be started outside of a box, on this machine itself; empty if it can."""
        if self.only_in_box:
            return self.only_in_box
        answers_by_http = [service.startswith("http://$address:$port") for service in self.ready or ()]
        if (
            not (self.foreground and self.port is not None and answers_by_http == [True])
            or sum(step.each is None for step in self.steps) > 1
            or self.configuration
            or self.private_folders
            or self.folders
        ):
            one = "servers of one command with `foreground` that answer at http://$address:$port"
            return f"outside, only {one} can be started"
        return ""

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts in which words are filled in, except those for standard input."""
        parts = (getattr(self, thing) or "" for thing in (*OFFERS, "user", "peer"))
        return (self.configuration, *parts, *(word for step in self.steps for word in step.run), *(self.ready or ()))

    def needs(self, word: str) -> bool:
        """Whether it uses a word such as `mount`, whose value only a box file has."""
        return any(re.search(rf"\$({word}\b|{{{word}}})", text) for text in self.texts)

    def has_part_for(self, thing: str) -> bool:
        """Whether its configuration or a command has a part for each `thing`, such as each bucket."""
        return getattr(self, thing) is not None or any(step.each == thing for step in self.steps)


def _kind_paths() -> dict[str, Path]:
    """Return kind -> its file; the user's own files override ours."""
    own = os.environ.get(OWN_FOLDER)
    folders = [FOLDER, *([Path(own)] if own else [])]
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.yaml"))}


def kind_names() -> list[str]:
    """Return the names of all kinds, sorted."""
    return sorted(_kind_paths())


def load_kind(name: str) -> ServerKind:
    """Return the kind of this name.

    Raises:
        AssayError: There is none, or its file is invalid.
    """
    paths = _kind_paths()
    if name not in paths:
        raise AssayError(f"no kind of server is called `{name}`", choices_hint(name, sorted(paths)))
    return _read(paths[name])


@functools.cache
def _read(path: Path) -> ServerKind:
    own = path.parent == FOLDER
    data = path.read_bytes() if own else read_user_file(path, f"cannot read {path}", "check its rights", MAX_FILE_BYTES)
    kind = read_model(ServerKind, data, str(path), GUIDE, "kind of server")
    if kind.kind != path.stem:
        raise AssayError(f"{path}: it has `kind: {kind.kind}`", "name the file after the kind")
    return kind


def startable_fault(name: str, thing: Thing) -> tuple[str, str] | None:
    """Return why a kind of server cannot be started here for a bucket or a table, and a hint; None if it can.

    Raises:
        AssayError: There is no such kind, or its file is invalid.
    """
    kind = load_kind(name) if name in kind_names() else None
    if kind is not None and kind.has_part_for(thing) and not kind.box_only_reason:
        # The other files are not read: the command should start quickly.
        return None
    able = [
        other for other in kind_names() if (known := load_kind(other)).has_part_for(thing) and not known.box_only_reason
    ]
    if kind is None:
        raise AssayError(f"no kind of server is called `{name}`", choices_hint(name, able))
    hint = f"write server: {' or '.join(able)}"
    if not kind.has_part_for(thing):
        return f"{name} offers no {thing}s", hint
    return f"{name} runs in a box only: {kind.box_only_reason}", f"{hint}; {GUIDE} shows how to run it in a box"


def check_server(server: BoxServer, where: str) -> None:
    """Check that the kind of a server exists and that it can offer what the box file requires.

    Args:
        server: The server in the box file.
        where: Its host, for the message.

    Raises:
        AssayError: A check failed.
    """
    kind = load_kind(server.kind)
    able = [key for thing, key in OFFERS.items() if kind.has_part_for(thing)]
    if able and not server.offers:
        raise AssayError(f"{where}: {server.kind} offers nothing", f"add to the server `{able[0]}: [NAME]`")
    for key in OFFERS.values():
        if getattr(server, key) and key not in able:
            raise AssayError(f"{where}: {server.kind} offers no {key}", f"it offers {' and '.join(able) or 'nothing'}")
    for name, value in server.options.items():
        names = (*kind.options, *kind.number_options)
        if name not in names:
            known = f"it has {', '.join(names)}" if names else "leave out `options`"
            raise AssayError(f"{where}: {server.kind} has no option {name}", known)
        if name in kind.number_options:
            least, most = kind.number_options[name]
            if not (value.isdecimal() and least <= int(value) <= most):
                raise AssayError(f"{where}: {server.kind} has no {name}: {value}", f"write {least} to {most}")
        elif value not in kind.options[name]:
            raise AssayError(
                f"{where}: {server.kind} has no {name}: {value}", f"write {' or '.join(kind.options[name])}"
            )
    if server.users and not kind.has_part_for("user"):
        raise AssayError(f"{where}: {server.kind} has no users", "leave out `users`")
    for key, (what, example) in PLACE_KEYS.items():
        stated, needed = getattr(server, key) is not None, kind.needs(key)
        if needed and not stated:
            raise AssayError(
                f"{where}: {server.kind} {what}, and none is named", f"add to the server `{key}: {example}`"
            )
        if stated and not needed:
            raise AssayError(f"{where}: {server.kind} does not use `{key}`", f"leave out `{key}`")
