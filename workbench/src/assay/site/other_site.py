"""Finds the site that the option `--on` names: a stack, what a tool knows, a file with hosts, or hosts by name."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from assay.model.base import AssayError
from assay.model.money.priced_designs import PricedDesign
from assay.model.money.use import DesignChoice, Use
from assay.model.room import hook
from assay.model.site.host import LOCALHOST, is_host_name
from assay.model.study.hosts import INVENTORY, TOOLS, AnyHosts, Hosts
from assay.model.user_files import path_kind
from assay.money.books.books import book_names, load_book
from assay.money.cost.bill import hosts_bill
from assay.money.cost.designs import design_names, load_template
from assay.money.cost.stored_prices import freeze, priced_design, unpriced_items
from assay.plan.change_site import OtherSite, SiteDesign
from assay.site.inventory.machines.documents import STACK, TERRAFORM, SiteFacts
from assay.site.inventory.machines.machine import CLIENT
from assay.site.inventory.site import InventorySite

ON_HINT = "write stack:NAME, terraform:FOLDER, ansible:FILE, parallelcluster:NAME, a file with hosts, or a node set"
_FILE_ENDINGS = (".json", ".yaml", ".yml", ".ini", ".txt", ".tfstate", ".cfg")
_FILES = (INVENTORY, "ansible", TERRAFORM)
"""Words whose values are paths."""


def find_site(written: str, folder: Path) -> OtherSite:
    """Return the site that an option names, with its storage and design if it is known to have some.

    Args:
        written: `stack:NAME`, another key of `hosts` with its value, the path of a file or folder, the name of a stack
            that was made here, or a node set.
        folder: Folder that relative paths start from.

    Raises:
        AssayError: There is no such site, or it cannot be used.
    """
    value = _value(written, folder)
    try:
        hosts = TypeAdapter[Hosts](AnyHosts).validate_python(value)
    except ValidationError as error:
        message = error.errors(include_url=False)[0]["msg"]
        raise AssayError(f"--on {written}: {message}", ON_HINT) from None
    if not hosts.is_described:
        is_word = is_host_name(written) and "." not in written and written != LOCALHOST
        note = "no stack of that name was made from here, so it is taken as a host" if is_word else ""
        return OtherSite(written, value, note=note)
    site = InventorySite(hosts, folder, typed=True)
    facts = site.facts()
    known = {host.name: host.address for host in site.known_hosts() if host.address != host.name}
    design, note = _design(facts)
    return OtherSite(written, value, facts.storage, known, design, note)


def _value(written: str, folder: Path) -> object:
    """Return the value of the study's field `hosts`."""
    word, colon, name = written.partition(":")
    if colon and word in TOOLS:
        return {word: str(folder / name) if word in _FILES and name else name}
    kind = path_kind(folder / written)
    if kind:
        return {TERRAFORM if kind == "folder" else INVENTORY: str(folder / written)}
    if "/" in written or written.endswith(_FILE_ENDINGS):
        raise AssayError(f"--on {written}: there is no such file", ON_HINT)
    return {STACK: written} if hook("is_known_stack")(written) else written


def _design(facts: SiteFacts) -> tuple[SiteDesign | None, str]:
    """Return the design of which a stack was made, and why it or a part of it has no price; empty if all has."""
    name = f"aws-{facts.region}"
    if facts.storage is None or facts.design not in design_names():
        return None, ""
    if name not in book_names():
        return None, f"no prices: there is no price book {name}; `assay prices refresh` makes one"
    try:
        design = load_template(facts.design).build(facts.values)
        chosen = DesignChoice(design=facts.design, set=dict(facts.values))
        own = {group.role for group in design.servers}
        hosts = {} if CLIENT in own else dict(facts.hosts)
        return _priced(name, chosen, priced_design(chosen, design, Use()), hosts, facts.network)
    except AssayError as error:
        return None, f"no prices: {error.message}"


def _priced(
    name: str, chosen: DesignChoice, design: PricedDesign, hosts: Mapping[str, int], network: Mapping[str, int]
) -> tuple[SiteDesign, str]:
    """Return a design that a book prices, with the hosts and the network that it prices, and which it does not.

    Raises:
        AssayError: The book does not price the design.
    """
    book = load_book(name)
    freeze({"": design}, book, "on-demand", None, Use())
    missing = unpriced_items(hosts_bill(hosts, network), book, "on-demand", None, Use())
    note = f"the price book {name} has no price of {', '.join(missing)}: not in the cost" if missing else ""
    known, parts = ({key: count for key, count in all_.items() if key not in missing} for all_ in (hosts, network))
    return SiteDesign(name, chosen.design, chosen.set, known, parts), note
