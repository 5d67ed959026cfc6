"""Rules for workloads on tables."""

from collections.abc import Iterator

from assay.kinds.dynamodb.study import DATA_ATTRIBUTE, DynamodbTarget
from assay.kinds.servers import refuse_too_many_servers
from assay.model.source import FieldFault
from assay.model.study.contents import parse_mix, parse_sizes
from assay.model.study.study import Workload
from assay.model.units import format_size
from assay.plan.objects import DEFAULT_BATCH

MAX_ITEM_BYTES = 400 << 10
"""Largest item in bytes (DynamoDB, Service quotas)."""
MAX_BATCH_ITEMS = {"batch_put": 25, "batch_get": 100}
"""Most items of one BatchWriteItem and one BatchGetItem (DynamoDB API reference)."""
MAX_RESPONSE_BYTES = 16_000_000
"""Most bytes of items in one response (DynamoDB API reference, BatchGetItem)."""
KEY_NUMBER_CHARS, SORT_KEY_CHARS, KEY_DIRECTORY_CHARS = 17, 8, 64
"""Most characters of the numbers in a partition key, of a sort key, and of the part of a partition key that names run
and job, which is not known in advance."""


def crosscheck(target: DynamodbTarget, name: str, workload: str, work: Workload) -> Iterator[FieldFault]:
    """See `Target.crosscheck`."""
    path = ("workloads", workload)
    yield from refuse_too_many_servers(name, target.endpoint_urls, "endpoints", workload, work)
    if work.group == "objects":
        yield from _sizes(path, target, work)
        yield from _batches(path, work)
        yield from _whole(path, work)


def key_bytes(target: DynamodbTarget) -> int:
    """Return the most bytes of an item that its attribute names and keys can take."""
    partition = len(target.partition_key) + len(target.prefix) + KEY_DIRECTORY_CHARS + 2 + KEY_NUMBER_CHARS
    return partition + (len(target.sort_key) + SORT_KEY_CHARS if target.sort_key else 0) + len(DATA_ATTRIBUTE)


def _sizes(path: tuple[str, str], target: DynamodbTarget, work: Workload) -> Iterator[FieldFault]:
    """Check that items are large enough for their keys, and not larger than the service allows."""
    sizes = [parse_sizes(size) for size in work.axis("object_size").values() if isinstance(size, int | str)]
    largest = max((size.largest for size in sizes), default=0)
    if largest > MAX_ITEM_BYTES:
        message = f"DynamoDB takes no items of {format_size(largest)}"
        yield FieldFault(path=(*path, "object_size"), message=message, hint="use at most 400KiB")
    smallest = min(
        (min(size.weights, default=0) if size.bounds is None else size.bounds[0] for size in sizes), default=0
    )
    keys = key_bytes(target)
    if sizes and smallest <= keys:
        message = f"an item of {format_size(smallest)} may have no room for its keys, which are in it"
        yield FieldFault(path=(*path, "object_size"), message=message, hint=f"use more than {keys} bytes")


def _batches(path: tuple[str, str], work: Workload) -> Iterator[FieldFault]:
    largest_batch = max((value for value in work.axis("batch").values() if isinstance(value, int)), default=0)
    for operation, limit in MAX_BATCH_ITEMS.items():
        if operation in work.operations and largest_batch > limit:
            message = f"DynamoDB takes at most {limit} items in {operation}"
            yield FieldFault(path=(*path, "batch"), message=message, hint=f"use 1 to {limit}")
    sizes = [parse_sizes(size).largest for size in work.axis("object_size").values() if isinstance(size, int | str)]
    batch_bytes = max(sizes, default=0) * (largest_batch or DEFAULT_BATCH)
    if "batch_get" in work.operations and batch_bytes > MAX_RESPONSE_BYTES:
        message = f"a batch of {format_size(batch_bytes)} is larger than a response of DynamoDB may be"
        yield FieldFault(path=(*path, "batch"), message=message, hint="the limit is 16 MB: lower batch or object_size")


def _whole(path: tuple[str, str], work: Workload) -> Iterator[FieldFault]:
    """Refuse parameters for parts of items, which are stored and fetched only whole."""
    for field, words in (("part_size", "stored"), ("range", "fetched")):
        if any(value is not None for value in work.axis(field).values()):
            yield FieldFault(path=(*path, field), message=f"items of tables are {words} whole", hint="remove it")
    mixes = [value for value in work.axis("mix").values() if isinstance(value, str)]
    if "object_mix" in work.operations and any("head" in parse_mix(mix) for mix in mixes):
        message = "tables do not support head, which is in the mix"
        yield FieldFault(
            path=(*path, "mix"), message=message, hint="write for example mix: {get: 75, put: 15, delete: 10}"
        )
