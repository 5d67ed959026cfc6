"""Advice on the twenty needs: of all designs, and among those that `second_opinion` argues about."""

from typing import Any

import second_opinion
import second_opinion_needs  # noqa: F401  (fills the table of needs)
from advise_tools import NEEDS, advised, best, read_need

from assay.money.books.books import load_book
from assay.rooms.advice.model.advice import Advice, AdviceOption
from assay.rooms.advice.work.published_evidence import published_evidence

NUMBERS = sorted(second_opinion.ALL)
WIDE = [number for number in NUMBERS if number != "09" and not read_need(number).candidates]
"""Needs that name no designs; for 09 all are tried, which takes no time."""


def given(number: str, **changes: Any) -> Advice:
    """Assay's answer to a need with changes, whatever designs it tries."""
    need = read_need(number, **changes)
    books = [load_book(name, NEEDS) for name in need.books or (need.book or "",)]
    return advised(need, books, published_evidence())


def among(number: str, more: str | None = None, **changes: Any) -> Advice:
    """The same; of a wide need only of the designs that are argued about, and of one more."""
    if number not in WIDE:
        return given(number, **changes)
    designs = dict.fromkeys(each.design for each in second_opinion.candidates(number))
    return given(number, **{"candidates": [*designs, *({more} - {None, *designs})], **changes})


def standing(answer: Advice) -> list[AdviceOption]:
    """Of each design the cheapest option whose price lacks nothing, in the order of their price."""
    cheapest: dict[str, AdviceOption] = {}
    for item in sorted(answer.options, key=lambda item: item.price.paid):
        if not item.price.missing_prices:
            cheapest.setdefault(item.design, item)
    return list(cheapest.values())


def told(answer: Advice) -> str:
    """Its reasons, and on what conditions the choice is one."""
    return " | ".join([*(item.text for item in answer.reasons), *best(answer).conditions])


CLOUDS = {"providers": ["aws", "azure", "gcp"]}
NO_TIERS = ["own-tape", "s3-archive", "s3", "gcs-archive", "gcs", "azure-blob-archive", "azure-blob"]
OTHERWISE: list[tuple[str, dict[str, Any], str | None]] = [
    ("13", {"durability": "region"}, "s3-archive"),
    ("13", {"durability": "region", "recovery": "1h", "candidates": NO_TIERS}, "gcs-archive"),
    ("13", {"admin_hours": {"own": 30}}, "s3-archive"),
    ("14", {"durability": "site"}, "own-ceph"),
    ("14", {"where": CLOUDS}, "fsx-lustre-hdd"),
    ("14", {"months": 3}, "fsx-lustre-hdd"),
    ("15", {"where": {"providers": ["aws", "gcp"]}}, "beegfs-dense"),
    ("15", {"where": {"providers": ["aws", "gcp"]}, "term": "on-demand"}, "gcp-parallelstore"),
    ("16", {"where": {"providers": ["azure", "gcp"]}}, "azure-blob"),
    ("17", {"where": {"providers": ["gcp"]}}, "gcp-managed-lustre"),
    ("17", {"where": {"providers": ["azure"]}}, None),
    ("18", {"where": CLOUDS}, "azure-blob"),
    ("18", {"budget": "3300 EUR/month"}, None),
    ("19", {"availability": 99.99}, "efs-elastic"),
    ("19", {"durability": "host"}, "own-nfs-server"),
    ("20", {"where": {"providers": ["gcp"]}}, "gcp-filestore-regional-large"),
    ("20", {"where": {"providers": ["aws"]}}, "fsx-openzfs-multi-az"),
]
"""Changes of a need, and what is chosen then: argued in its comment, or following from the order of its arithmetic."""

REASONS: dict[str, tuple[str, ...]] = {
    "01": ("56 % + 34 % = 90 % of st1 volumes, which reads and writes share", "the next design, beegfs-volumes"),
    "02": ("access is random, which is what SSD volumes such as gp3 are for", "50 % + 50 % = 100 %"),
    "03": (
        "7.65 GB/s measured with 24 clients",
        "6.81 GB/s measured with 24 clients",
        "one NFS server saturates at 1 GB/s",
    ),
    "04": ("1.33 GB/s measured with 8 clients", "overrides the rule of 2016", "which costs 49 % less than on demand"),
    "05": ("43 % + 47 % = 90 %", "d2.xlarge", "its data survives no failure; the need says persistent"),
    "06": ("141 MB/s measured with 8 clients", "must be restored from the archive afterwards"),
    "07": ("36 months are long enough for reserved-3y, all-upfront, which costs 65 % less",),
    "08": ("which takes 12 hours (standard)", "3.9 % more for objects of 1.05 MB", "the next design, s3"),
    "09": ("1,000 streams at once", "the need does not set `cold`"),
    "10": ("4,000 read and 800 write units", "the next design, dynamodb-on-demand"),
    "11": ("57 % + 38 % = 95 % of FSx for Lustre, which reads and writes share", "one NFS server saturates at"),
    "12": ("2 lines carry 50 % of growth", "1.12 GB/s expected, 1.5 GB/s are needed"),
    "13": ("has cost less in total than s3-archive class=s3-deep-archive", "somebody has fetched its cartridge"),
    "14": (
        "from month 4 on own-nfs-server",
        "than fsx-lustre-hdd capacity=468000GiB",
        "The one server is down for repairs",
    ),
    "15": ("60 % + 40 % = 100 % of Azure Files", "the next design, beegfs-dense servers=2"),
    "16": ("13,634.96 USD a month",),
    "17": ("87.5 % + 8.8 % = 96.3 % of FSx for Lustre, which reads and writes share", "gcp-managed-lustre"),
    "18": ("from month 10 on own-minio", "azure-blob class=blob-hot", "Without a contract nobody mends it but you"),
    "19": ("the next design, efs-elastic infrequent=95%", "begins to be read after tens of milliseconds"),
    "20": ("62.5 % + 37.5 % = 100.0 % of Azure Files", "the next design, azure-files-zrs capacity=18627GiB"),
}
"""What must be said of each choice."""
