"""What work on objects is expected to take: requests, bytes and time."""

import math

from assay.model.study.mixes import moving
from assay.model.study.names import BATCHES, DELETES, SEES
from assay.model.study.parameters import Parameters
from assay.model.study.speed import Speed
from assay.plan.objects import batch_of

LISTED = 1000
"""Names in one page of a list, objects on one of a scan, and objects that one multi_delete removes at most."""
SCANNED_BYTES = 1 << 20
"""Of one page of a scan at most (DynamoDB)."""


def data_bytes(parameters: Parameters) -> int:
    """Bytes of all objects together, as expected."""
    return math.ceil(parameters.all_objects * parameters.object_sizes.mean)


def space_bytes(operations: tuple[str, ...], parameters: Parameters) -> int:
    """Likewise with their copies."""
    return data_bytes(parameters) * (2 if "copy" in operations else 1)


def pass_of(operation: str, parameters: Parameters) -> tuple[float, float]:
    """(requests, bytes of each) of a phase that goes once over the objects; `prepare` puts them all."""
    objects, mean = float(parameters.all_objects), parameters.object_sizes.mean
    if operation in ("put", "prepare"):
        requests = objects * requests_of_put(parameters)
        return requests, objects * mean / requests
    if operation in SEES:
        # A put and a look for each.
        return 2 * objects, mean / 2
    if operation in BATCHES:
        requests = float(math.ceil((parameters.objects or 0) / batch_of(parameters)) * parameters.all_lanes)
        return requests, objects * mean / requests
    if operation == "scan":
        pages = math.ceil((parameters.objects or 0) / scanned_at_once(parameters)) * parameters.all_lanes
        return float(pages), objects * mean / pages
    if operation in ("update", "query"):
        return objects, mean
    if operation == "get":
        return objects, mean if parameters.range is None else min(mean, parameters.range)
    if operation == "object_mix":
        return objects, mean * sum(moving(operation, parameters))
    if operation in ("list", "multi_delete"):
        return float(math.ceil((parameters.objects or 0) / LISTED) * parameters.all_lanes), 0.0
    return objects, 0.0


def scanned_at_once(parameters: Parameters) -> int:
    """Objects on one page of a scan; the engine's rule."""
    return min(LISTED, max(1, SCANNED_BYTES // parameters.object_sizes.largest))


def is_sized(operations: tuple[str, ...], parameters: Parameters) -> bool:
    """Whether anybody knows how much the operations move: not what is fetched of objects that were there before."""
    return not parameters.existing or {"get", "object_mix"}.isdisjoint(operations)


def requests_of_put(parameters: Parameters) -> float:
    """Requests that it takes to put an object of mean size: of one in parts a beginning and an end besides."""
    parts = parameters.object_sizes.mean / (parameters.part_size or math.inf)
    return math.ceil(parts) + 2 if parts > 1 else 1


def request_seconds(operation: str, parameters: Parameters, speed: Speed) -> float:
    """Time between the ends of successive requests of all lanes together."""
    start = (
        speed.change
        if operation in DELETES | SEES | {"put", "copy", "prepare", "update", "batch_put"}
        else speed.operation
    )
    depth = min(parameters.in_flight, speed.parallel)
    return start / depth + pass_of(operation, parameters)[1] / speed.bandwidth
