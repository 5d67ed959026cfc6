"""The description of a server, filled in for a host: its configuration and its commands.

These words are filled in: `$host`, `$address`, `$port`, `$access` and `$secret` (keys that are no secret),
`$configuration` (path of the written configuration), `$log`, `$data`, `$mount`, `$source` (name of the storage that
the server passes on), `$upstream` (address of the host that serves that storage), `$python` (Assay's own interpreter),
`$assay` (the command that starts Assay), `$exports`, `$devices`, `$buckets`, `$tables` and `$users` (the parts of all
of them), `$peers` (the parts, or else the addresses, of all other servers of the kind), `$members` (addresses of all
servers of the kind, this one included), `$first` (address of the first), and each word of `find`, `options` and
`number_options`. The part or command for one thing also has `$number` and `$name`; for exports and devices `$path`; for
exports `$base`, the last part of the path; for users `$user`; for peers `$peer`; on standard input `$password`.
"""

import hashlib
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.extras import how_to_install
from assay.model.own_program import own_command
from assay.model.site.box_servers import BoxServer
from assay.servers.kinds import ACCESS, OFFERS, SECRET_KEY, CommandStep, ServerKind

Words = Mapping[str, str]
SECRET = "password"
"""The word that is filled in only on standard input."""


@dataclass(frozen=True)
class ServerPlace:
    """Where one server runs, and the other servers of its kind.

    Attributes:
        host: Name of its host.
        address: Address of its host.
        configuration: Path of its configuration; the log is in the same folder.
        peers: Host -> address of all servers of the kind in the order of the box, including this one.
        devices: Name of a device -> its path.
        passwords: User -> password; empty once the server has started.
        port: The port where it answers; None for the port of its description.
        upstream: Address of the host whose storage it passes on; empty if it passes on none.
    """

    host: str
    address: str
    configuration: Path
    peers: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, str] = field(default_factory=dict)
    passwords: Mapping[str, str] = field(default_factory=dict, repr=False)
    port: int | None = None
    upstream: str = ""

    @property
    def log(self) -> Path:
        """Path of its log."""
        return self.configuration.with_suffix(".log")

    @property
    def is_first(self) -> bool:
        """Whether it is the first server of its kind."""
        return next(iter(self.peers), self.host) == self.host


@dataclass(frozen=True)
class ServerCommand:
    """A command with all words filled in.

    Attributes:
        argv: Program and arguments.
        stdin_text: Its standard input.
    """

    argv: tuple[str, ...]
    stdin_text: str = field(default="", repr=False)


class FilledServer:
    """A kind of server, filled in for one host."""

    def __init__(self, kind: ServerKind, server: BoxServer, place: ServerPlace) -> None:
        """Fill in the words, and find the paths that the description looks for.

        Raises:
            AssayError: A path does not exist.
        """
        self.kind, self.server, self.place = kind, server, place
        self.things = {thing: self._each(thing, getattr(server, key)) for thing, key in OFFERS.items()}
        self.things["user"] = [
            {**own, "user": own["name"], SECRET: place.passwords.get(own["name"], "")}
            for own in self._each("user", server.users)
        ]
        others = [name for name in place.peers if name != place.host]
        self.things["peer"] = [{**own, "peer": place.peers[own["name"]]} for own in self._each("peer", others)]
        self.words = self._words()

    def configuration(self) -> str:
        """Return the text of its configuration.

        Raises:
            AssayError: It has an unknown word.
        """
        return fill(self.kind.configuration, {**self.words, **self._parts()})

    def commands(self, steps: Iterable[CommandStep]) -> list[ServerCommand]:
        """Return the commands of those steps that apply to this server.

        Raises:
            AssayError: One has an unknown word.
        """
        words, found = {**self.words, **self._parts()}, []
        for step in steps:
            if step.on == "first" and not self.place.is_first:
                continue
            for own in self.things[step.each] if step.each is not None else [{}]:
                public_words = {name: value for name, value in own.items() if name != SECRET}
                argv = tuple(fill(word, {**words, **public_words}) for word in step.run)
                found.append(ServerCommand(argv, fill(step.stdin, {**words, **own})))
        return found

    def services(self) -> list[str]:
        """Return the addresses that `assay-switch ready` checks: HOST:PORT or a URL."""
        filled = [fill(service, self.words) for service in self.kind.ready or ()]
        return [one if one.startswith("http://") else f"{self.place.address}:{one}" for one in filled]

    def _words(self) -> dict[str, str]:
        addresses, place = list(self.place.peers.values()), self.place
        words = {
            **find_words(self.kind),
            **{name: self.server.options.get(name, values[0]) for name, values in self.kind.options.items()},
            **{name: self.server.options.get(name, "") for name in self.kind.number_options},
            "host": place.host,
            "address": place.address,
            "access": ACCESS,
            "secret": SECRET_KEY,
            "configuration": str(place.configuration),
            "log": str(place.log),
            "python": sys.executable,
            "assay": shlex.join(own_command()),
            "members": ",".join(addresses) or place.address,
            "first": next(iter(addresses), place.address),
        }
        port, server = place.port or self.kind.port, self.server
        words |= {"port": str(port)} if port else {}
        stated = {
            "data": server.data,
            "mount": server.mount,
            "source": server.upstream_name,
            "upstream": place.upstream,
        }
        return words | {word: value for word, value in stated.items() if value}

    def _parts(self) -> dict[str, str]:
        """Return `$exports` and the like: the part of the configuration for each thing, joined."""
        parts = {}
        for thing, things in self.things.items():
            text = getattr(self.kind, thing)
            public_words = [{name: value for name, value in own.items() if name != SECRET} for own in things]
            parts[f"{thing}s"] = "".join(fill(text or "", {**self.words, **own}) for own in public_words)
        if self.kind.peer is None:
            parts["peers"] = ",".join(own["peer"] for own in self.things["peer"])
        return parts

    def _each(self, thing: str, names: Sequence[str]) -> list[dict[str, str]]:
        """Return the words of each thing of a kind."""
        found = []
        for number, name in enumerate(names, start=1):
            own = {"number": str(number), "name": name}
            if thing == "export":
                own |= {"path": name, "base": name.rpartition("/")[2]}
            elif thing == "device":
                own["path"] = self.place.devices[name]
            found.append(own)
        return found


def find_words(kind: ServerKind) -> dict[str, str]:
    """Return the words of `find`, each with the first path that exists.

    Raises:
        AssayError: No path matches a word.
    """
    words = {}
    for word, patterns in kind.find.items():
        matches = [match for pattern in patterns for match in sorted(map(str, Path("/").glob(pattern.lstrip("/"))))]
        if not matches:
            raise AssayError(f"{kind.kind}: none of {', '.join(patterns)} is there", install_hint(kind), EXIT_REFUSED)
        words[word] = matches[0]
    return words


def install_hint(kind: ServerKind) -> str:
    """Return how to install the server, as a hint."""
    ways = [f"apt-get install {' '.join(kind.packages)}"] if kind.packages else []
    ways += [how_to_install(kind.python)] if kind.python else []
    return "; ".join([*ways, *([kind.install_hint.strip()] if kind.install_hint else [])])


def fill(text: str, words: Words) -> str:
    """Return the text with its `$words` filled in.

    Raises:
        AssayError: It has an unknown word.
    """
    try:
        return Template(text).substitute(words)
    except (KeyError, ValueError) as error:
        hint = f"known are: {', '.join(sorted(words))}; a plain dollar sign is $$"
        raise AssayError(f"the description of a server has an unknown word: {error}", hint) from None


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()
