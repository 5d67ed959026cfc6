"""The variants of designs that a need is compared with: parameters, sizes and prices."""

import math
from collections import Counter
from collections.abc import Container, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from assay.model.base import AssayError
from assay.model.money.design import DURABILITIES, S3, Design, Servers, Service
from assay.model.money.need import Candidate, Need
from assay.model.money.price import Bill
from assay.model.money.volumes import ProvisionedVolume
from assay.money.advice.bought import bought_names
from assay.money.advice.market import Market, Sold
from assay.money.advice.points import Given, axes_of, points_of
from assay.money.advice.pricer import Offer, Pricer
from assay.money.advice.sizes import SHARES, SIZED, counted_names
from assay.money.cost.bill import make_bill, volume_count
from assay.money.cost.catalog import catalog
from assay.money.cost.designs import Template, load_template
from assay.money.cost.limits import Limits

MOST_VARIANTS = 30_000
"""Combinations of the values of one design."""
QUIET = ("layout", "prefixes", "infrequent")
"""Parameters that are not named in labels where they have the design's own value."""


class Key:
    """What two ways of writing the same thing share; looked up so often that its hash is kept."""

    __slots__ = ("_hash", "_parts")

    def __init__(self, *parts: Hashable) -> None:
        """Keep all that is built."""
        self._parts, self._hash = parts, hash(parts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self._hash == other._hash and self._parts == other._parts


@dataclass(frozen=True, slots=True)
class Variant:
    """A design with values, its limits and what it costs.

    Attributes:
        values: Of all parameters.
        shown: Those that tell it from the others.
        offers: On each allowed term; the cheapest first.
        key: By which evidence finds it.
        label: `nfs-volumes instance=m5.large capacity=5TB`.
        sold: What prices it.
    """

    template: str
    values: Mapping[str, Any]
    shown: Mapping[str, Any]
    design: Design
    limits: Limits
    offers: tuple[Offer, ...]
    key: Key
    label: str
    sold: Sold

    @property
    def best(self) -> Offer:
        """The cheapest."""
        return self.offers[0]


@dataclass
class Tried:
    """All variants of one design by the prices of one book, and those that never became one.

    Attributes:
        name: For labels.
        design: As a candidate names it.
        sold: What prices it; None: no book is of its provider.
        provider: Of the design.
        book: The one that it was made for; empty: none.
        unpriced: Variants of which what stores the data has no price.
        hopeless: Only one variant was tried, since none has the access or durability that is needed.
        impossible: What the catalogue says of those that cannot be had -> how many.
    """

    name: str
    about: str
    design: str = ""
    sold: Sold | None = None
    provider: str | None = None
    book: str = ""
    variants: list[Variant] = field(default_factory=list)
    unpriced: list[Variant] = field(default_factory=list)
    impossible: Counter[str] = field(default_factory=Counter)
    hopeless: bool = False

    @property
    def count(self) -> int:
        """All of them."""
        return len(self.variants) + self.impossible.total() + len(self.unpriced)

    @property
    def lacks(self) -> Counter[str]:
        """What the book has no price of -> how many variants need it."""
        return Counter(name for variant in self.unpriced for name in variant.best.lacks[:1])


def try_design(
    candidate: Candidate,
    need: Need,
    market: Market,
    sold: Sold,
    base: Path | None = None,
    name: str = "",
    elsewhere: Container[Key] = (),
) -> Tried:
    """Build and price every variant of a design.

    Args:
        candidate: The design and the values to try.
        need: What it is for.
        market: All prices.
        sold: Of these, what prices this design.
        base: Where paths of designs start.
        name: For labels; empty: the design's.
        elsewhere: What another design has built already.

    Raises:
        AssayError: There is no such design or parameter.
        BadValueError: With one of the candidate's values no variant can be built.
    """
    template = load_template(candidate.design, base)
    pricer = Pricer(need, sold, market)
    data = template.source.data
    tried = Tried(name or template.name, str(data.get("about", "")), candidate.design, sold, template.provider)
    tried.book = str(data.get("book") or "")
    axes = axes_of(template, candidate)
    _check_number(candidate, axes)

    def parts(values: Mapping[str, Any]) -> tuple[Design, Bill, Limits]:
        design = template.build(values)
        return design, make_bill(design, pricer.use(design)), template.limits(values)

    def builds(values: Mapping[str, Any]) -> bool:
        with suppress(AssayError):
            return bool(parts(values))
        return False

    given = Given(candidate, axes, builds)
    named = {key for key, values in axes.items() if len(values) > 1 or key in candidate.set}
    named |= {*bought_names(template, candidate.set), *counted_names(template, candidate.set)}
    named |= {key for key in (*SIZED, *SHARES) if key in template.parameters}
    own = {key: parameter.value for key, parameter in template.parameters.items()}
    order = sorted(template.parameters, key=lambda name: name in SIZED)
    known: set[Key] = set()
    points = points_of(template, axes, candidate, need)
    if not candidate.set and _hopeless(template, need):
        points, tried.hopeless = islice(points, 1), True
    for values, sized in points:
        try:
            design, bill, limits = parts(values)
        except AssayError as error:
            tried.impossible[error.message] += 1
            given.failed(values, error)
            continue
        given.built(values)
        key = key_of(design)
        if sized and key in known:
            continue
        known.add(key)
        if key in elsewhere:
            continue
        telling = {key: values[key] for key in order if key in named and values[key] is not None}
        named_ones = {key: value for key, value in telling.items() if key not in QUIET or value != own[key]}
        label = " ".join([tried.name, *(f"{name}={value}" for name, value in named_ones.items())])
        offers = pricer.offers(bill, design)
        strange = [f"{key}={values[key]}: {why}" for key, why in design.unpriced.items() if values.get(key) != own[key]]
        if strange and not offers[0].unpriced:
            offers = tuple(replace(each, lacks=(*each.lacks, *strange), beyond=None) for each in offers)
        variant = Variant(tried.name, values, telling, design, limits, offers, key, label, sold)
        (tried.unpriced if offers[0].unpriced else tried.variants).append(variant)
    given.check()
    return tried


def _check_number(candidate: Candidate, axes: Mapping[str, Sequence[Any]]) -> None:
    """Refuse what nobody waits for.

    Raises:
        AssayError: There are too many combinations.
    """
    count = math.prod(len(values) for values in axes.values())
    if count > MOST_VARIANTS:
        raise AssayError(
            f"{candidate.design}: {count:,} combinations are more than {MOST_VARIANTS:,}", "name fewer values"
        )


def _hopeless(template: Template, need: Need) -> bool:
    """No value of any parameter gives it the access or durability that is needed: one variant says so."""
    if not (template.same_for_all("access") and template.same_for_all("durability")):
        return False
    try:
        design = template.build()
    except AssayError:
        return False
    order = DURABILITIES.index
    weak = need.durability is not None and order(design.durability) < order(need.durability)
    return weak or need.access not in design.access


def key_of(design: Design) -> Key:
    """What two ways of writing the same thing share: all that is built, with numbers of volumes and what is included.

    Names, texts and sources say nothing about it.
    """
    servers = tuple(_resolved(group) for group in design.servers)
    return Key(
        design.family,
        design.served,
        design.copies,
        design.erasure,
        design.usable,
        design.overhead,
        servers,
        _plain(design.service),
        tuple(piece.model_copy(update={"source": ""}) for piece in design.hardware),
        design.link,
    )


def _plain(service: Service | None) -> Service | None:
    """A bucket without its class for cold data, if nothing lies there."""
    if isinstance(service, S3) and not service.cold_share:
        return service.model_copy(update={"cold_class": None})
    return service


def _resolved(group: Servers) -> Servers:
    volumes = group.volumes
    if volumes is None:
        return group
    changes: dict[str, Any] = {"count": volume_count(volumes)}
    kind = catalog().volume(volumes.type)
    if isinstance(kind, ProvisionedVolume):
        changes |= {"iops": volumes.iops or kind.iops_free, "throughput": volumes.throughput or kind.rate_free}
    if changes["count"] == 1 and volumes.layout in ("raid0", "lvm"):
        # One volume is no more than itself, however it is called.
        changes["layout"] = "single"
    return group.model_copy(update={"volumes": volumes.model_copy(update=changes)})
