"""vCPUs of a stack, and the quotas of an account for them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from assay.model.base import AssayError
from assay.model.money.amount import Term
from assay.money.cost.catalog import catalog
from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.model.priced import Thing
from assay.rooms.deploy.work.life.cloud import Cloud

STANDARD = frozenset(("a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"))
"""Letters before the generation of the instance families that share the quotas of standard instances."""
QUOTAS: Mapping[Term, str] = {"on-demand": "L-1216C47A", "spot": "L-34B43A08"}
"""Term -> code of the quota in vCPUs of all standard instances (Service Quotas, service ec2)."""
WORDS: Mapping[Term, str] = {"on-demand": "on demand", "spot": "as spot instances"}


@dataclass(frozen=True)
class VcpuNeed:
    """vCPUs of instances of one term.

    Attributes:
        term: on-demand or spot.
        all: vCPUs of all instances whose type is known.
        standard: Those of them that count against the quota of standard instances.
    """

    term: Term
    all: int
    standard: int


def instance_types(things: Iterable[Thing]) -> Iterator[tuple[Term, str, int]]:
    """Yield term, type and number of the instances among things."""
    for thing in things:
        if thing.kind == "instance":
            yield from ((thing.term, item.item, int(item.pieces)) for item in thing.items)


def vcpu_needs(things: Iterable[Thing]) -> tuple[list[VcpuNeed], bool]:
    """Return the vCPUs of things, by term, and whether the types of all instances are known."""
    sums: dict[Term, list[int]] = {}
    is_complete = True
    for term, name, count in instance_types(things):
        try:
            vcpus = catalog().instance(name).vcpus * count
        except AssayError:
            is_complete = False
            continue
        found = sums.setdefault(term, [0, 0])
        found[0] += vcpus
        found[1] += vcpus if _is_standard(name) else 0
    return [VcpuNeed(term, *found) for term, found in sorted(sums.items())], is_complete


def _is_standard(name: str) -> bool:
    letters = re.match("[a-z]+", name)
    return letters is not None and letters[0] in STANDARD


def vcpu_text(needs: Iterable[VcpuNeed], is_complete: bool) -> str:
    """Return vCPUs in words; empty if there are none."""
    parts = [f"{need.all:,} {WORDS[need.term]}" for need in needs]
    return f"{'' if is_complete else 'at least '}{' and '.join(parts)}" if parts else ""


def check_quotas(cloud: Cloud, needs: Iterable[VcpuNeed]) -> None:
    """Refuse what exceeds a quota of the account for vCPUs; where Service Quotas does not answer, nothing is checked.

    Raises:
        CloudError: More vCPUs are needed than the account may have at all, whatever runs now.
    """
    for need in needs:
        quota = _quota(cloud, need.term) if need.standard else None
        if quota is not None and need.standard > quota:
            message = (
                f"the stack needs {need.standard:,} vCPUs {WORDS[need.term]}, "
                f"and the quota of the account in {cloud.region} is {quota:,.0f}"
            )
            hint = f"ask for more in Service Quotas ({QUOTAS[need.term]}), or take smaller or fewer instances"
            raise CloudError(FaultKind.QUOTA, message, hint)


def _quota(cloud: Cloud, term: Term) -> float | None:
    try:
        answer = cloud.call("service-quotas", "get_service_quota", ServiceCode="ec2", QuotaCode=QUOTAS[term])
        return float(answer["Quota"]["Value"])
    except (CloudError, KeyError, TypeError, ValueError):
        return None
