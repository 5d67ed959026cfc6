"""A machine with the addresses that a cloud reports, and which of them a login takes."""

import ipaddress
import re
import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.model.base import AssayError
from assay.model.site.host import is_host_name
from assay.site.inventory.foreign import ForeignInventory, ReportLine
from assay.site.inventory.names import is_ip


def words_in(text: str) -> frozenset[str]:
    """Return the words of a text that blanks separate."""
    return frozenset(text.split())


CLIENT_WORDS = words_in("client compute worker loadgen generator bench benchmark initiator")
SERVER_WORDS = words_in(
    "server storage nfs metadata management mgmt mds oss ost mgs osd mon monitor monitoring master controller"
    " controlplane db database gluster ceph beegfs chunkserver etcd"
)
LOGIN_WORDS = words_in("bastion jump jumphost jumpbox jumpserver login head headnode")
CLIENT, SERVER, LOGIN = "client", "server", "login"
_ROLE_WORDS = ((LOGIN, LOGIN_WORDS), (CLIENT, CLIENT_WORDS), (SERVER, SERVER_WORDS))


@dataclass(frozen=True)
class CloudMachine:
    """A machine of a cloud.

    Attributes:
        name: Its name, perhaps not one that a host can have, and perhaps not the only one of that name.
        groups: Names of the groups that it is in.
        public: Address that is reached from anywhere; empty if it has none.
        private: Address inside its network; empty if unknown.
        user: User to log in as; None if unknown.
        port: Port of sshd; None: the default of ssh.
        identity: File of the private key; None: the default of ssh.
        role: `client`, `server` or `login`; empty if it is to be found in the names of its groups, or else in its own.
        instance: As of `Host`.
    """

    name: str
    groups: tuple[str, ...] = ()
    public: str = ""
    private: str = ""
    user: str | None = None
    port: int | None = None
    identity: str | None = None
    role: str = ""
    instance: str | None = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Its known addresses."""
        return tuple(filter(None, (self.public, self.private)))

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Where its sshd answers: several machines may have one address and different ports."""
        return tuple(f"{address} {self.port or ''}" for address in self.addresses)


def refuse_first_page(token: object) -> None:
    """Refuse an answer that names where it goes on: it lacks machines.

    Raises:
        AssayError: There is such a token.
    """
    if token:
        raise AssayError(
            "has only a part of the machines: it ends with a token for the next page", "store all pages in one"
        )


def words_of(name: str) -> list[str]:
    """Return the words of a name, in lower case: `clientPublicIPs` and `client_public_ips` have the same three."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})", " ", name)
    return [word.lower() for word in re.split(r"[\W_]+", spaced) if word]


def singular(word: str) -> str:
    """Return a word without the s of a plural."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def singular_words(name: str) -> set[str]:
    """Return the words of a name as they are, in singular, and without numbers behind them."""
    words = {re.sub(r"\d+$", "", word) for word in words_of(name)}
    return words | {singular(word) for word in words}


def is_private(address: str) -> bool:
    """Whether an address is for a network of its own: by its number, or a name that ends in .internal or .local."""
    if is_ip(address):
        return ipaddress.ip_address(address).is_private
    return address.endswith((".internal", ".local", ".lan"))


def is_own_address(address: str) -> bool:
    """Whether this machine has an IP address: only those can be bound."""
    if not is_ip(address):
        return False
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def named_apart(machines: Sequence[CloudMachine]) -> list[CloudMachine]:
    """Return machines with names that hosts can have, each another one: client1 and client2 for two called client."""
    plain = [replace(item, name=_host_name(item.name)) for item in machines]
    counts = Counter(item.name for item in plain)
    used = {name for name, count in counts.items() if count == 1}
    last: Counter[str] = Counter()
    found = []
    for item in plain:
        name = item.name
        while counts[item.name] > 1 and (name == item.name or name in used):
            last[item.name] += 1
            name = f"{item.name}{'-' if item.name[-1].isdigit() else ''}{last[item.name]}"
        used.add(name)
        found.append(replace(item, name=name))
    return found


def _host_name(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:200]
    return plain or "host"


def inventory_of(
    machines: Sequence[CloudMachine],
    report: ReportLine = lambda _: None,
    is_own: Callable[[str], bool] = is_own_address,
) -> ForeignInventory:
    """Return the hosts and groups of an inventory, and which of them generate the load if a study names none.

    A machine behind a bastion or login host is reached through it, by its private address; any other one by its public
    address, if it has one. If this machine is one of them, all are reached by their private addresses.

    Args:
        machines: The machines.
        report: Called with a line about what was decided.
        is_own: Whether an address is one of this machine.

    Raises:
        AssayError: A machine has no address.
    """
    named = named_apart(machines)
    if nowhere := next((item.name for item in named if not item.addresses), None):
        raise AssayError(f"{nowhere} has no address", "start it, or leave it out")
    roles = _roles(named)
    inside = any(is_own(item.private) for item in named if item.private)
    gate = None if inside else next((item for item in named if roles[item.name] == LOGIN and item.public), None)
    found = ForeignInventory()
    for item in named:
        address = item.public or item.private
        if inside or (gate is not None and item is not gate):
            address = item.private or item.public
        about = {"user": item.user, "port": item.port, "identity": item.identity, "instance": item.instance}
        fields = {"address": address, **about}
        if gate is not None and item is not gate:
            fields["jump"] = _login_text(gate)
        found.fields[item.name] = {key: value for key, value in fields.items() if value is not None}
        for group in item.groups:
            if is_host_name(group):
                found.groups.setdefault(group, []).append(item.name)
    found.clients = _clients(named, roles)
    if found.clients and len(found.clients) < len(named):
        others = [item.name for item in named if item.name not in set(found.clients)]
        report(f"note: {_few(found.clients)} can generate load; not {_few(others)}")
    return found


def _login_text(gate: CloudMachine) -> str:
    place = f"[{gate.public}]" if ":" in gate.public else gate.public
    return f"{f'{gate.user}@' if gate.user else ''}{place}{f':{gate.port}' if gate.port else ''}"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _roles(machines: Sequence[CloudMachine]) -> dict[str, str]:
    """Return the role of each machine: as stated, or by a word in the names of groups, or else in its own name."""
    by_group = {item.name: item.role or _role_of(item.groups) for item in machines}
    return by_group if any(by_group.values()) else {item.name: _role_of((item.name,)) for item in machines}


def has_role_word(name: str) -> bool:
    """Whether a name has a word for what a machine is for."""
    return bool(_role_of((name,)))


def _role_of(names: Sequence[str]) -> str:
    words = set[str]().union(*(singular_words(name) for name in names))
    return next((role for role, known in _ROLE_WORDS if not known.isdisjoint(words)), "")


def _clients(machines: Sequence[CloudMachine], roles: Mapping[str, str]) -> list[str]:
    """Return the machines that generate load if a study names none; none if that is unknown."""
    for role in (CLIENT, ""):
        if found := [item.name for item in machines if roles[item.name] == role]:
            return found
    others = [item for item in machines if roles[item.name] == SERVER]
    # Some clouds call each machine a server.
    is_plain = len({item.groups for item in others}) == 1 and not any(item.role for item in others)
    words = set[str]().union(*(singular_words(name) for item in others for name in (item.name, *item.groups)))
    return [item.name for item in others] if is_plain and words & SERVER_WORDS == {SERVER} else []
