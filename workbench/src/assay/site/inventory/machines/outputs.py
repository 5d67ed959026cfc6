"""Machines in named outputs, as of Terraform, OpenTofu and CloudFormation: addresses under names that people choose."""

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.site.inventory.machines.machine import CloudMachine, is_private, singular, words_in, words_of
from assay.site.inventory.names import is_ip

Values = Mapping[str, Any]

_PUBLIC_WORDS, _PRIVATE_WORDS = frozenset(("public", "external")), frozenset(("private", "internal"))
_ADDRESS_WORDS = words_in(
    "ip ips ipv4 ipv6 eip address addresses addr host hosts hostname hostnames dns fqdn fqdns list map all"
)
_NAME_WORDS = words_in(
    "host hostname dns fqdn address addresse node server client instance vm machine worker login bastion"
)
"""Words, in singular, of outputs whose values may be names; any other output has IP addresses or no machines."""
_OTHER_WORDS = words_in(
    "nat gateway vpc vnet subnet subnets cidr cidrs lb alb nlb elb balancer loadbalancer url urls uri id ids arn arns"
    " rds zone vpn allowed source mask netmask range endpoint endpoints key keys password token mount efs fsx bucket"
    " port ports nameserver nameservers resolver resolvers ntp domain gw my caller vip vips virtual whitelist"
)
"""Words of outputs whose addresses are those of no machine."""
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62}\.)+[A-Za-z0-9-]{1,63}")
_SERVICE = re.compile(r"\.(elb|rds|efs|fsx|s3|eks|cache)[.-]|\.file\.core\.windows\.net$|^fs-")
_LOGIN = re.compile(r"(?:^|\s)ssh\s(?:.*\s)?([A-Za-z_][\w.-]*)@([\w.:-]+)\s*$")

USER_KEYS = (
    *("user", "username", "user_name", "ssh_user", "ssh_username", "ciuser"),
    *("login_user", "admin_username", "admin_user", "ansible_user", "remote_user"),
)
KEY_KEYS = (
    *("private_key_path", "private_key_file", "ssh_private_key_path", "ssh_private_key_file", "ssh_key_path"),
    *("ssh_key_file", "key_file", "key_path", "identity_file", "ansible_ssh_private_key_file"),
)
PORT_KEYS = ("ssh_port", "ansible_port")
PUBLIC_KEYS = (
    *("public_ip", "public_ip_address", "nat_ip", "nat_ip_address", "external_ip"),
    *("public_address", "floating_ip", "ipv4_address_public", "public_ipv4", "main_ip", "public_dns"),
)
PRIVATE_KEYS = (
    *("private_ip", "private_ip_address", "internal_ip", "network_ip"),
    *("private_address", "private_ipv4", "ipv4_address_private", "private_dns"),
)
PLAIN_KEYS = (
    *("ip", "address", "ip_address", "ipv4_address", "access_ip_v4", "default_ip_address", "default_ipv4_address"),
    *("ipv4", "ipv6_address", "ansible_host", "host", "fqdn", "dns", "hostname"),
)
NAME_KEYS = ("name", "instance_name", "display_name", "label", "hostname", "computer_name")
"""Keys of objects that describe a machine, in the order in which they are preferred."""


@dataclass(frozen=True)
class _Found:
    """An address that an output states.

    Attributes:
        key: Place in the output: `client-0` for the first of client_public_ips and of client_private_ips.
        machine: The machine as far as the output describes it.
        is_general: The output's name says only that these are addresses.
    """

    key: str
    machine: CloudMachine
    is_general: bool = False


def may_have_machines(name: str) -> bool:
    """Whether an output whose value is not to be looked at is named as if it had addresses of machines."""
    words = set(words_of(name))
    return words.isdisjoint(_OTHER_WORDS) and not words.isdisjoint(_ADDRESS_WORDS | {"instances", "nodes", "machines"})


def machines_of_outputs(outputs: Values, known: Sequence[CloudMachine] = ()) -> list[CloudMachine]:
    """Return the machines that are known, completed by what outputs say of them, and the others that outputs name.

    An output may be an address, a list of addresses, a mapping of names to addresses, or objects with addresses. Lists
    of public and of private addresses under the same name (`client_public_ips`, `client_private_ips`) describe the same
    machines, and so do outputs that share an address.

    Args:
        outputs: Name -> value.
        known: Machines that another source has described.
    """
    found = [item for name, value in outputs.items() for item in _machines(name, value)]
    if known or not any(item.machine.addresses for item in found):
        # Lists with gaps, as of the public addresses of machines of which some have none.
        found = [item for item in found if item.machine.addresses]
    machines = list(known)
    places = {end: at for at, machine in enumerate(machines) for end in machine.endpoints}
    for item in sorted(found, key=lambda item: item.is_general):
        keys = [f"at {item.key}", *item.machine.endpoints]
        at = next((places[key] for key in keys if key in places), len(machines))
        machines[at : at + 1] = [_together(machines[at], item.machine) if at < len(machines) else item.machine]
        places |= dict.fromkeys((keys[0], *machines[at].endpoints), at)
    return _with_logins(machines, outputs)


def _together(first: CloudMachine, other: CloudMachine) -> CloudMachine:
    filled = {key: getattr(first, key) or getattr(other, key) for key in ("public", "private", "role")}
    about = {
        key: getattr(other, key) if getattr(first, key) is None else getattr(first, key)
        for key in ("user", "port", "identity")
    }
    return replace(first, groups=tuple(dict.fromkeys((*first.groups, *other.groups))), **filled, **about)


def _machines(name: str, value: object) -> Iterator[_Found]:
    """Yield the machines of one output."""
    words = words_of(name)
    if not set(words).isdisjoint(_OTHER_WORDS):
        return
    base = _base(words)
    keyed = value if isinstance(value, Mapping) and machine_of_object(value, "") is None else {base or "host": value}
    takes_names = any(singular(word) in _NAME_WORDS for word in words)
    for key, part in keyed.items():
        for place, machine in _parts(str(key), part, words, takes_names):
            yield _Found(place, replace(machine, groups=(name,)), not base)


def _base(words: list[str]) -> str:
    """Return what is left of an output's name without the words for addresses: `client` of client_public_ips."""
    kept = list(words)
    last = next((word for word in reversed(kept) if word in _PUBLIC_WORDS | _PRIVATE_WORDS), None)
    if last is not None:
        kept.reverse()
        kept.remove(last)
        kept.reverse()
    return "-".join(singular(word) for word in kept if word not in _ADDRESS_WORDS)


def _parts(place: str, value: object, words: list[str], takes_names: bool) -> Iterator[tuple[str, CloudMachine]]:
    """Yield place and machine of each part of a value: an address, an object, or a list of these."""
    if isinstance(value, Mapping):
        machine = machine_of_object(value, place)
        if machine is not None:
            yield place, machine
        return
    if isinstance(value, str) and re.search(r"[,\s]", value.strip()):
        value = re.split(r"[,\s]+", value.strip())
    if isinstance(value, list):
        parts = [list(_parts(f"{place}-{number}", item, words, takes_names)) for number, item in enumerate(flat(value))]
        for number, (found, item) in enumerate(zip(parts, flat(value), strict=True)):
            if item in (None, "") and any(parts):
                found.append((f"{place}-{number}", CloudMachine(f"{place}-{number}")))
            yield from found
    elif isinstance(value, str) and (is_ip(value) or (takes_names and _is_machine_name(value))):
        yield place, _at(place, value, words)


def flat(value: object) -> list[Any]:
    """Return the items of a list, and those of lists in it; none of anything else."""
    listed = value if isinstance(value, list) else []
    return [part for item in listed for part in (item if isinstance(item, list) else [item])]


def _is_outer(text: object) -> bool:
    """Whether a text is an address at which other machines reach this one."""
    if not isinstance(text, str) or not is_ip(text):
        return False
    address = ipaddress.ip_address(text)
    return not (address.is_loopback or address.is_link_local)


def _is_machine_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and _SERVICE.search(text) is None


def _at(name: str, address: str, words: list[str]) -> CloudMachine:
    seen = [word for word in words if word in _PUBLIC_WORDS | _PRIVATE_WORDS]
    private = seen[-1] in _PRIVATE_WORDS if seen else is_private(address)
    return CloudMachine(name, private=address) if private else CloudMachine(name, public=address)


def machine_of_object(value: Values, name: str) -> CloudMachine | None:
    """Return the machine that an object of Terraform describes; None if it has no address.

    Args:
        value: Attributes of a resource, or an object that an output was made of.
        name: Name of the machine if the object has none.
    """
    value = {**_of_interfaces(value), **{key: item for key, item in value.items() if item not in (None, "")}}
    public, private = _text(value, PUBLIC_KEYS), _text(value, PRIVATE_KEYS)
    plain = _text(value, PLAIN_KEYS)
    if plain and (is_ip(plain) or _is_machine_name(plain)) and not (public and private):
        if is_private(plain):
            private = private or plain
        else:
            public = public or plain
    if not public and not private:
        return None
    tags = value.get("tags")
    own = tags.get("Name") if isinstance(tags, Mapping) else None
    named = own if isinstance(own, str) and own else _text(value, NAME_KEYS) or name
    port = _text(value, PORT_KEYS)
    return CloudMachine(
        named,
        public=public,
        private=private,
        user=_text(value, USER_KEYS) or _key_user(value),
        port=int(port) if port.isdigit() else None,
        identity=_text(value, KEY_KEYS) or None,
    )


def _of_interfaces(value: Values) -> dict[str, str]:
    """Return the addresses in a machine's interfaces, as Google, Yandex, libvirt, Proxmox, Scaleway nest them."""
    interfaces = [item for item in flat(value.get("network_interface")) if isinstance(item, Mapping)]
    first = interfaces[0] if interfaces else {}
    outer = [item for one in interfaces for item in (*flat(one.get("access_config")), one) if isinstance(item, Mapping)]
    listed = [item for item in flat(first.get("addresses") or value.get("ipv4_addresses")) if _is_outer(item)]
    found = {
        "private_ip": [first.get("network_ip") or first.get("ip_address"), *_addresses(value.get("private_ips"))],
        "public_ip": [
            *(item.get("nat_ip") or item.get("nat_ip_address") for item in outer),
            *_addresses(value.get("public_ips")),
        ],
        "ip": listed,
    }
    texts = {key: next((item for item in items if isinstance(item, str) and item), "") for key, items in found.items()}
    return {key: text for key, text in texts.items() if text}


def _addresses(listed: object) -> list[object]:
    return [item.get("address") if isinstance(item, Mapping) else item for item in flat(listed)]


def _key_user(value: Values) -> str | None:
    """Return the user of the first ssh key in the metadata of a machine of Google: `USER:ssh-ed25519 ...`."""
    metadata = value.get("metadata")
    keys = metadata.get("ssh-keys") if isinstance(metadata, Mapping) else None
    match = re.match(r"\s*([a-z_][\w.-]*):(?:ssh|ecdsa)-", keys) if isinstance(keys, str) else None
    return match[1] if match else None


def _text(value: Values, keys: tuple[str, ...]) -> str:
    return next((str(value[key]) for key in keys if isinstance(value.get(key), str | int) and value[key] != ""), "")


def _with_logins(machines: list[CloudMachine], outputs: Values) -> list[CloudMachine]:
    """Return machines with the users, ports and keys that outputs state, for one kind of machine or for all.

    `ssh_user` is for all, `client_ssh_user` for those of `client_ips`, and `ssh bench@10.0.0.1` for that address.
    """
    texts = {"_".join(words_of(name)): str(value) for name, value in outputs.items() if isinstance(value, str | int)}
    users = {match[2]: match[1] for match in _logins(outputs)}
    found = []
    for item in machines:
        bases = [base for group in item.groups if (base := _base(words_of(group)).replace("-", "_"))]
        user = next((users[address] for address in item.addresses if address in users), None)
        port = _setting(texts, bases, PORT_KEYS)
        found.append(
            replace(
                item,
                user=item.user or user or _setting(texts, bases, USER_KEYS),
                port=item.port or (int(port) if port and port.isdigit() else None),
                identity=item.identity or _setting(texts, bases, KEY_KEYS),
            )
        )
    return found


def _setting(texts: Mapping[str, str], bases: list[str], words: tuple[str, ...]) -> str | None:
    names = [f"{base}_{word}" for base in bases for word in words] + list(words)
    value = next((texts[name] for name in names if texts.get(name)), None)
    # A key itself instead of the name of its file has several lines.
    return value if value is not None and "\n" not in value else None


def _logins(outputs: Values) -> Iterator["re.Match[str]"]:
    """Yield the ssh commands in outputs, with user and address."""
    for value in outputs.values():
        listed = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
        for item in listed:
            if isinstance(item, str) and (match := _LOGIN.search(item)):
                yield match
