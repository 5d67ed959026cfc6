"""The variants of a design: combinations of parameters and sizes, with their prices."""

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
"""Most combinations of one design's values."""
QUIET = ("layout", "prefixes", "infrequent")
"""Parameters left out of labels where they have the design's default value."""


class Key:
    """Identity of a design by its parts, equal for two ways to write the same design; its hash is cached for speed."""

    __slots__ = ("_hash", "_parts")

    def __init__(self, *parts: Hashable) -> None:
        """Store all parts that are built."""
        self._parts, self._hash = parts, hash(parts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self._hash == other._hash and self._parts == other._parts


@dataclass(frozen=True, slots=True)
class Variant:
    """A design with parameter values, its limits, and its cost.

    Attributes:
        values: Values of all parameters.
        shown: The values that distinguish it from the design's other variants.
        offers: Its price on each allowed term; the cheapest first.
        key: Identity by which evidence is found.
        label: `nfs-volumes instance=m5.large capacity=5TB`.
        sold: The prices that apply.
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
        """The cheapest offer."""
        return self.offers[0]


@dataclass
class Tried:
    """All variants of one design by the prices of one book, and the combinations that cannot be built.

    Attributes:
        name: Name in labels.
        about: Description of the design.
        design: Name that a candidate uses.
        sold: The prices that apply; None: there is no book of its provider.
        provider: Provider of the design.
        book: Price book that the design was written for; empty: none.
        variants: Variants with a price.
        unpriced: Variants whose storage has no price.
        hopeless: Only one variant was built, because none can have the required access or durability.
        impossible: Why combinations cannot be built, as the catalogue states it -> how many.
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
        """Number of all combinations."""
        return len(self.variants) + self.impossible.total() + len(self.unpriced)

    @property
    def lacks(self) -> Counter[str]:
        """Item without a price in the book -> number of variants that need it."""
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
        candidate: The design and the values to combine.
        need: What the design is for.
        market: All prices.
        sold: The prices of this design's provider.
        base: Folder where relative paths of designs start.
        name: Name in labels; empty: the design's name.
        elsewhere: Keys of variants that another design has built already.

    Raises:
        AssayError: There is no such design or parameter.
        BadValueError: No variant can be built with one of the candidate's values.
    """
    template = load_template(candidate.design, base)
    pricer = Pricer(need, sold, market)
    data = template.source.data
    result = Tried(name or template.name, str(data.get("about", "")), candidate.design, sold, template.provider)
    result.book = str(data.get("book") or "")
    axes = axes_of(template, candidate)
    _check_number(candidate, axes)

    def parts(values: Mapping[str, Any]) -> tuple[Design, Bill, Limits]:
        design = template.build(values)
        return design, make_bill(design, pricer.use(design)), template.limits(values)

    def builds(values: Mapping[str, Any]) -> bool:
        with suppress(AssayError):
            return bool(parts(values))
        return False

    tracker = Given(candidate, axes, builds)
    labelled = {key for key, values in axes.items() if len(values) > 1 or key in candidate.set}
    labelled |= {*bought_names(template, candidate.set), *counted_names(template, candidate.set)}
    labelled |= {key for key in (*SIZED, *SHARES) if key in template.parameters}
    defaults = {key: parameter.value for key, parameter in template.parameters.items()}
    order = sorted(template.parameters, key=lambda name: name in SIZED)
    known: set[Key] = set()
    points = points_of(template, axes, candidate, need)
    if not candidate.set and _is_infeasible(template, need):
        points, result.hopeless = islice(points, 1), True
    for values, sized in points:
        try:
            design, bill, limits = parts(values)
        except AssayError as error:
            result.impossible[error.message] += 1
            tracker.failed(values, error)
            continue
        tracker.built(values)
        key = key_of(design)
        if sized and key in known:
            continue
        known.add(key)
        if key in elsewhere:
            continue
        distinguishing = {key: values[key] for key in order if key in labelled and values[key] is not None}
        label_values = {
            key: value for key, value in distinguishing.items() if key not in QUIET or value != defaults[key]
        }
        label = " ".join([result.name, *(f"{name}={value}" for name, value in label_values.items())])
        offers = pricer.offers(bill, design)
        unpriced_values = [
            f"{key}={values[key]}: {why}" for key, why in design.unpriced.items() if values.get(key) != defaults[key]
        ]
        if unpriced_values and not offers[0].unpriced:
            offers = tuple(replace(each, lacks=(*each.lacks, *unpriced_values), beyond=None) for each in offers)
        variant = Variant(result.name, values, distinguishing, design, limits, offers, key, label, sold)
        (result.unpriced if offers[0].unpriced else result.variants).append(variant)
    tracker.check()
    return result


def _check_number(candidate: Candidate, axes: Mapping[str, Sequence[Any]]) -> None:
    """Refuse more combinations than can be computed in reasonable time.

    Raises:
        AssayError: There are too many combinations.
    """
    count = math.prod(len(values) for values in axes.values())
    if count > MOST_VARIANTS:
        raise AssayError(
            f"{candidate.design}: {count:,} combinations are more than {MOST_VARIANTS:,}", "name fewer values"
        )


def _is_infeasible(template: Template, need: Need) -> bool:
    """Return whether no parameter can give the design the required access or durability."""
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
    """Return the identity of a design: all that is built, with numbers of volumes and default performance filled in.

    Names, texts and sources do not count.
    """
    servers = tuple(_with_defaults(group) for group in design.servers)
    return Key(
        design.family,
        design.served,
        design.copies,
        design.erasure,
        design.usable,
        design.overhead,
        servers,
        _without_unused_class(design.service),
        tuple(piece.model_copy(update={"source": ""}) for piece in design.hardware),
        design.link,
    )


def _without_unused_class(service: Service | None) -> Service | None:
    """Return a bucket without its class for cold data if no data is in it."""
    if isinstance(service, S3) and not service.cold_share:
        return service.model_copy(update={"cold_class": None})
    return service


def _with_defaults(group: Servers) -> Servers:
    volumes = group.volumes
    if volumes is None:
        return group
    changes: dict[str, Any] = {"count": volume_count(volumes)}
    kind = catalog().volume(volumes.type)
    if isinstance(kind, ProvisionedVolume):
        changes |= {"iops": volumes.iops or kind.iops_free, "throughput": volumes.throughput or kind.rate_free}
    if changes["count"] == 1 and volumes.layout in ("raid0", "lvm"):
        # With one volume these layouts are the same as `single`.
        changes["layout"] = "single"
    return group.model_copy(update={"volumes": volumes.model_copy(update=changes)})
