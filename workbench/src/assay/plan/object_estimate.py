"""Estimates requests, bytes and time of operations on objects."""

import math

from assay.model.study.mixes import moved_shares
from assay.model.study.names import BATCHES, DELETES, VISIBILITY
from assay.model.study.parameters import Parameters
from assay.model.study.speed import Speed
from assay.plan.objects import batch_size

MAX_PAGE_OBJECTS = 1000
"""Most names in a page of a list, objects in a page of a scan, and objects of one multi_delete."""
MAX_SCAN_PAGE_BYTES = 1 << 20
"""Most bytes of a page of a scan (DynamoDB)."""


def data_bytes(parameters: Parameters) -> int:
    """Return the expected bytes of all objects together."""
    return math.ceil(parameters.all_objects * parameters.object_sizes.mean)


def space_bytes(operations: tuple[str, ...], parameters: Parameters) -> int:
    """Return the expected bytes of all objects and their copies."""
    return data_bytes(parameters) * (2 if "copy" in operations else 1)


def requests_of_pass(operation: str, parameters: Parameters) -> tuple[float, float]:
    """Return (requests, bytes of each) of a phase that handles all objects once; `prepare` puts them all."""
    objects, mean = float(parameters.all_objects), parameters.object_sizes.mean
    if operation in ("put", "prepare"):
        requests = objects * requests_of_put(parameters)
        return requests, objects * mean / requests
    if operation in VISIBILITY:
        # A put and a visibility check for each object.
        return 2 * objects, mean / 2
    if operation in BATCHES:
        requests = float(math.ceil((parameters.objects or 0) / batch_size(parameters)) * parameters.all_lanes)
        return requests, objects * mean / requests
    if operation == "scan":
        pages = math.ceil((parameters.objects or 0) / objects_per_scan_page(parameters)) * parameters.all_lanes
        return float(pages), objects * mean / pages
    if operation in ("update", "query"):
        return objects, mean
    if operation == "get":
        return objects, mean if parameters.range is None else min(mean, parameters.range)
    if operation == "object_mix":
        return objects, mean * sum(moved_shares(operation, parameters))
    if operation in ("list", "multi_delete"):
        return float(math.ceil((parameters.objects or 0) / MAX_PAGE_OBJECTS) * parameters.all_lanes), 0.0
    return objects, 0.0


def objects_per_scan_page(parameters: Parameters) -> int:
    """Return the objects in one page of a scan, by the engine's rule."""
    return min(MAX_PAGE_OBJECTS, max(1, MAX_SCAN_PAGE_BYTES // parameters.object_sizes.largest))


def has_known_sizes(operations: tuple[str, ...], parameters: Parameters) -> bool:
    """Return whether the bytes that the operations move are known: not if existing objects are fetched."""
    return not parameters.has_existing_objects or {"get", "object_mix"}.isdisjoint(operations)


def requests_of_put(parameters: Parameters) -> float:
    """Return the requests to put an object of mean size; a multipart upload needs two more, to begin and to end it."""
    parts = parameters.object_sizes.mean / (parameters.part_size or math.inf)
    return math.ceil(parts) + 2 if parts > 1 else 1


def request_seconds(operation: str, parameters: Parameters, speed: Speed) -> float:
    """Return the seconds between the ends of successive requests of all lanes together."""
    start = (
        speed.change
        if operation in DELETES | VISIBILITY | {"put", "copy", "prepare", "update", "batch_put"}
        else speed.operation
    )
    depth = min(parameters.in_flight, speed.parallel)
    return start / depth + requests_of_pass(operation, parameters)[1] / speed.bandwidth
