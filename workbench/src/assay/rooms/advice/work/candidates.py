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
from assay.model.money.price import Bill
from assay.model.money.volumes import ProvisionedVolume
from assay.money.cost.bill import volume_count
from assay.money.cost.catalog import catalog
from assay.money.cost.designs import Template, load_template
from assay.money.cost.limits import Limits
from assay.money.cost.sizing import SIZE_PARAMETERS
from assay.rooms.advice.model.need import CandidateDesign, Need
from assay.rooms.advice.work.features_offered import lacks_feature
from assay.rooms.advice.work.grid import NeedSizing, ValueTracker
from assay.rooms.advice.work.market import Market, ProviderPrices
from assay.rooms.advice.work.pricer import Pricer, TermOffer

MAX_VARIANTS = 30_000
"""Most combinations of one design's values."""
HIDDEN_DEFAULTS = ("layout", "prefixes", "infrequent")
"""Parameters left out of labels where they have the design's default value."""


class DesignKey:
    """Identity of a design by its parts, equal for two ways to write the same design; its hash is cached for speed."""

    __slots__ = ("_hash", "_parts")

    def __init__(self, *parts: Hashable) -> None:
        """Store all parts that are built."""
        self._parts, self._hash = parts, hash(parts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DesignKey) and self._hash == other._hash and self._parts == other._parts


@dataclass(frozen=True, slots=True)
class Variant:
    """A design with parameter values, its limits, and its cost.

    Attributes:
        values: Values of all parameters.
        label_values: The values that distinguish it from the design's other variants.
        offers: Its price on each allowed term; the cheapest first.
        key: Identity by which evidence is found.
        label: `nfs-volumes instance=m5.large capacity=5TB`.
        prices: The prices that apply.
    """

    template: str
    values: Mapping[str, Any]
    label_values: Mapping[str, Any]
    design: Design
    limits: Limits
    offers: tuple[TermOffer, ...]
    key: DesignKey
    label: str
    prices: ProviderPrices

    @property
    def best(self) -> TermOffer:
        """The cheapest offer."""
        return self.offers[0]


@dataclass
class DesignVariants:
    """All variants of one design by the prices of one book, and the combinations that cannot be built.

    Attributes:
        name: Name in labels.
        about: Description of the design.
        design: Name that a candidate uses.
        prices: The prices that apply; None: there is no book of its provider.
        provider: Provider of the design.
        book: Price book that the design was written for; empty: none.
        variants: Variants with a price.
        unpriced: Variants whose storage has no price.
        infeasible: Only one variant was built, because none can have what no parameter changes: the required access,
            durability, protocol, lock or operator.
        build_errors: Why combinations cannot be built, as the catalogue states it -> how many.
    """

    name: str
    about: str
    design: str = ""
    prices: ProviderPrices | None = None
    provider: str | None = None
    book: str = ""
    variants: list[Variant] = field(default_factory=list)
    unpriced: list[Variant] = field(default_factory=list)
    build_errors: Counter[str] = field(default_factory=Counter)
    infeasible: bool = False

    @property
    def count(self) -> int:
        """Number of all combinations."""
        return len(self.variants) + self.build_errors.total() + len(self.unpriced)

    @property
    def missing_prices(self) -> Counter[str]:
        """Item without a price in the book -> number of variants that need it."""
        return Counter(name for variant in self.unpriced for name in variant.best.missing_prices[:1])


def build_variants(
    candidate: CandidateDesign,
    need: Need,
    market: Market,
    prices: ProviderPrices,
    base: Path | None = None,
    name: str = "",
    known_keys: Container[DesignKey] = (),
) -> DesignVariants:
    """Build and price every variant of a design.

    Args:
        candidate: The design and the values to combine.
        need: What the design is for.
        market: All prices.
        prices: The prices of this design's provider.
        base: Folder where relative paths of designs start.
        name: Name in labels; empty: the design's name.
        known_keys: Keys of variants that another design has built already.

    Raises:
        AssayError: There is no such design or parameter.
        BadValueError: No variant can be built with one of the candidate's values.
    """
    template = load_template(candidate.design, base)
    candidate = _on_its_client(candidate, need, template)
    sizing = NeedSizing(template, candidate, need)
    _check_number(candidate, sizing.axes)
    return _VariantBuilder(sizing, candidate, Pricer(need, prices, market), prices, name or template.name).build(
        known_keys
    )


def _on_its_client(candidate: CandidateDesign, need: Need, template: Template) -> CandidateDesign:
    """Return a candidate whose attached volumes are on the instance that the need names as its client.

    Clients are in no price, so the price of that instance need not be known.
    """
    client = need.client
    is_free = "instance" in template.parameters and "instance" not in candidate.set and template.is_attached
    if not isinstance(client, str) or not is_free:
        return candidate
    return candidate.model_copy(update={"set": {**candidate.set, "instance": client}})


class _VariantBuilder:
    """Builds and prices the variants of one design."""

    def __init__(
        self, sizing: NeedSizing, candidate: CandidateDesign, pricer: Pricer, prices: ProviderPrices, name: str
    ) -> None:
        self._sizing, self._pricer, self._prices = sizing, pricer, prices
        self._template, self._candidate = sizing.template, candidate
        self._defaults = {key: parameter.value for key, parameter in self._template.parameters.items()}
        labelled = sizing.labelled_keys | {*candidate.set}
        self._labelled = [
            key for key in sorted(self._template.parameters, key=SIZE_PARAMETERS.__contains__) if key in labelled
        ]
        data = self._template.source.data
        self._result = DesignVariants(
            name,
            str(data.get("about", "")),
            candidate.design,
            prices,
            self._template.provider,
            str(data.get("book") or ""),
        )

    def build(self, known_keys: Container[DesignKey]) -> DesignVariants:
        """Return all variants but those whose keys are known.

        Raises:
            BadValueError: No variant can be built with one of the candidate's values.
        """
        result, known = self._result, set[DesignKey]()
        tracker = ValueTracker(self._candidate, self._sizing.axes, self._can_build)
        points = self._sizing.points()
        if not self._candidate.set and _is_infeasible(self._template, self._sizing.need):
            points, result.infeasible = islice(points, 1), True
        for values, is_provisioned in points:
            try:
                design, bill, limits = self._parts(values)
            except AssayError as error:
                result.build_errors[error.message] += 1
                tracker.record_failed(values, error)
                continue
            tracker.record_built(values)
            key = design_key(design)
            if key in known_keys or (is_provisioned and key in known):
                continue
            known.add(key)
            variant = self._variant(values, design, bill, limits, key)
            (result.unpriced if variant.best.is_unpriced else result.variants).append(variant)
        tracker.check()
        return result

    def _parts(self, values: Mapping[str, Any]) -> tuple[Design, Bill, Limits]:
        design = self._template.build(values)
        return design, self._pricer.bill(design), self._template.limits(values)

    def _can_build(self, values: Mapping[str, Any]) -> bool:
        with suppress(AssayError):
            return bool(self._parts(values))
        return False

    def _variant(
        self, values: Mapping[str, Any], design: Design, bill: Bill, limits: Limits, key: DesignKey
    ) -> Variant:
        distinguishing = {key: values[key] for key in self._labelled if values[key] is not None}
        label = " ".join(
            [
                self._result.name,
                *(
                    f"{key}={value}"
                    for key, value in distinguishing.items()
                    if key not in HIDDEN_DEFAULTS or value != self._defaults[key]
                ),
            ]
        )
        offers = self._offers(values, design, bill)
        return Variant(self._result.name, values, distinguishing, design, limits, offers, key, label, self._prices)

    def _offers(self, values: Mapping[str, Any], design: Design, bill: Bill) -> tuple[TermOffer, ...]:
        """Return the offers of a variant, with changed values whose price the book does not have."""
        offers = self._pricer.offers(bill, design)
        missing = [
            f"{key}={values[key]}: {why}"
            for key, why in design.unpriced.items()
            if values.get(key) != self._defaults[key]
        ]
        if not missing or offers[0].is_unpriced:
            return offers
        return tuple(
            replace(each, missing_prices=(*each.missing_prices, *missing), missing_cost_max=None) for each in offers
        )


def _check_number(candidate: CandidateDesign, axes: Mapping[str, Sequence[Any]]) -> None:
    """Refuse more combinations than can be computed in reasonable time.

    Raises:
        AssayError: There are too many combinations.
    """
    count = math.prod(len(values) for values in axes.values())
    if count > MAX_VARIANTS:
        raise AssayError(
            f"{candidate.design}: {count:,} combinations are more than {MAX_VARIANTS:,}", "name fewer values"
        )


def _is_infeasible(template: Template, need: Need) -> bool:
    """Return whether no parameter can give the design the required access, durability, protocol, lock or operator."""
    if not (template.is_fixed("access") and template.is_fixed("durability")):
        return False
    try:
        design = template.build()
    except AssayError:
        return False
    order = DURABILITIES.index
    weak = need.durability is not None and order(design.durability) < order(need.durability)
    return weak or need.access not in design.access or lacks_feature(design, need)


def design_key(design: Design) -> DesignKey:
    """Return the identity of a design: all that is built, with numbers of volumes and default performance filled in.

    Names, texts and sources do not count.
    """
    servers = tuple(_with_defaults(group) for group in design.servers)
    return DesignKey(
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
