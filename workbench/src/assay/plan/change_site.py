"""A study on another site than its own: other hosts, and its target at the storage that the site has."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.model.base import AssayError
from assay.model.site.storage import SiteStorage
from assay.model.study.hosts import expand_names
from assay.model.study.kinds import kinds

Data = dict[str, Any]


@dataclass(frozen=True)
class SiteDesign:
    """The design of a site and its price book.

    Attributes:
        book: Name of the book.
        design: Name of the design.
        values: Parameter of the design -> value.
        hosts: Instance type of hosts that belong to no design -> how many.
        network: Rented part of the network -> how many.
    """

    book: str
    design: str
    values: Mapping[str, Any]
    hosts: Mapping[str, int] = field(default_factory=dict)
    network: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class OtherSite:
    """A site as the option `--on` names it.

    Attributes:
        written: The option as it was typed.
        hosts: The value of the study's field `hosts`.
        storage: Storage that the site has; None if that is unknown, so that targets stay where they are.
        addresses: Name of a host of the site -> its address, for servers that a target names.
        design: The design of the site; None if it is unknown, or cannot be priced.
        note: What is missing, for the user; empty if nothing is.
    """

    written: str
    hosts: object
    storage: SiteStorage | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)
    design: SiteDesign | None = None
    note: str = ""

    def apply(self, data: Data) -> Data:
        """Return a study for this site.

        Args:
            data: Parsed study file without problems, with the targets that are to be measured.

        Raises:
            AssayError: The study has several targets, or one of another kind than the site's storage.
        """
        found = {key: value for key, value in data.items() if key != "testbed"}
        targets = {name: self._target(name, about, len(data["targets"])) for name, about in data["targets"].items()}
        return self._with_prices({**found, "hosts": self.hosts, "targets": targets})

    def _target(self, name: str, about: Data, count: int) -> Data:
        if self.storage is None:
            return self._with_addresses(about)
        kind = kinds()[about["kind"]]
        fields = kind.fields_at(self.storage)
        if fields is None and not kind.keeps_data:
            return about
        if fields is None:
            fitting = [word for word, other in kinds().items() if other.fields_at(self.storage) is not None]
            message = f"--on {self.written}: target {name} is {kind.noun}, and the site has {self.storage.about}"
            hint = f"write a target of kind {' or '.join(fitting)}" if fitting else "write its hosts into the study"
            raise AssayError(message, hint)
        if count > 1:
            message = f"--on {self.written}: the site has one storage, and the study {count} targets"
            raise AssayError(message, f"keep one: --target {name}")
        return {key: value for key, value in {**about, "description": None, **fields}.items() if value is not None}

    def _with_addresses(self, about: Data) -> Data:
        """Return a target whose servers are named by addresses, where they are hosts of the site."""
        servers = about.get("servers")
        listed = [servers] if isinstance(servers, str) else servers
        if not isinstance(listed, list) or not self.addresses:
            return about
        named = [name for text in listed for name in (expand_names((text,), "server") if "[" in text else (text,))]
        if not any(name in self.addresses for name in named):
            return about
        return {**about, "servers": [self.addresses.get(name, name) for name in named]}

    def _with_prices(self, data: Data) -> Data:
        """Return a study whose target has the design of the site, if it is known."""
        if self.design is None or self.storage is None:
            return data
        design = {"design": self.design.design, **({"set": dict(self.design.values)} if self.design.values else {})}
        designs = dict.fromkeys(data["targets"], design)
        hosts = {"hosts": dict(self.design.hosts)} if self.design.hosts else {}
        network = {"network": dict(self.design.network)} if self.design.network else {}
        prices = data.get("prices")
        if not isinstance(prices, dict):
            return {**data, "prices": {"book": self.design.book, **hosts, **network, "designs": designs}}
        # A book of the user's may have no prices of networks, and would then price nothing.
        parts = network if prices.get("book") == self.design.book else {}
        return {**data, "prices": {**prices, **hosts, **parts, "designs": {**prices["designs"], **designs}}}
