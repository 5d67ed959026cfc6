"""Checks cases against the capabilities that a backend reports, before anything is changed."""

from collections.abc import Iterable, Iterator, Mapping

from assay.contract._answers import BackendCapabilities, CacheAction, Capabilities
from assay.model.base import Code
from assay.model.source import FieldFault
from assay.model.study.case import Case
from assay.model.study.names import WORK
from assay.model.study.parameters import Parameters
from assay.model.study.study import Study
from assay.model.units import format_size
from assay.plan.broken_rule import BrokenRule
from assay.plan.phases import cache_action

Backends = dict[str, BackendCapabilities]
"""Kind of target -> reported capabilities."""


def read_capabilities(text: str) -> Backends:
    """Parse the JSON output of `assay-engine capabilities`; return it by kind of target."""
    return backends_by_kind(Capabilities.model_validate_json(text).backends)


def backends_by_kind(backends: Iterable[BackendCapabilities]) -> Backends:
    """Return the capabilities by kind of target."""
    return {backend.kind: backend for backend in backends}


def general_faults(
    study: Study, cases: Iterable[Case], backends: Mapping[str, BackendCapabilities]
) -> tuple[FieldFault, ...]:
    """Return the faults as `capability_faults` does, from general capabilities, before any target was probed.

    Args:
        study: The study.
        cases: Its cases.
        backends: Kind of target -> capabilities.
    """
    known = {name: backends[target.kind] for name, target in study.targets.items() if target.kind in backends}
    return capability_faults(cases, known)


def capability_faults(cases: Iterable[Case], backends: Mapping[str, BackendCapabilities]) -> tuple[FieldFault, ...]:
    """Return what the backends cannot do, once per workload, kind of target and rule, with the number of cases.

    Args:
        cases: Cases of a study.
        backends: Target -> capabilities; targets without an entry are not checked.
    """
    found: dict[tuple[str, str, str], tuple[BrokenRule, str, int]] = {}
    known: dict[tuple[object, ...], list[BrokenRule]] = {}
    for case in cases:
        backend = backends.get(case.target)
        if backend is None or case.group == "programs":
            # What programs can do at a place is theirs to know.
            continue
        key = (id(backend), case.operations, *case.parameters.__dict__.values())
        if key not in known:
            known[key] = unsupported(case, backend)
        for broken in known[key]:
            place = (case.workload, backend.kind, broken.rule)
            count = found[place][2] if place in found else 0
            found[place] = (found[place][0] if count else broken, case.workload, count + 1)
    return tuple(_fault(broken, workload, count) for broken, workload, count in found.values())


def _fault(broken: BrokenRule, workload: str, count: int) -> FieldFault:
    more = f" ({count} cases)" if count > 1 else ""
    path = ("workloads", workload, broken.field)
    return FieldFault(path=path, message=f"{broken.message}{more}", hint=broken.hint, code=broken.code)


def unsupported(case: Case, backend: BackendCapabilities) -> list[BrokenRule]:
    """Return what `backend` cannot do of `case`; empty if it can do everything."""
    kind = backend.kind if backend.place is None else f"{backend.kind} ({backend.place.filesystem})"
    return [
        *_operations(case, backend, kind),
        *_sets(case.parameters, backend, kind),
        *_other_parameters(case.parameters, backend, kind),
        *_cache(case, backend, kind),
    ]


def _operations(case: Case, backend: BackendCapabilities, kind: str) -> Iterator[BrokenRule]:
    missing = [operation for operation in dict.fromkeys(case.operations) if operation not in backend.operations]
    if missing:
        possible = [name for name, work in WORK.items() if name in backend.operations and work.group == case.group]
        hint = _or_other_targets(f"it can do {', '.join(possible)}")
        yield BrokenRule("operations", "operations", f"a {kind} target cannot do {', '.join(missing)}", hint)


def _sets(parameters: Parameters, backend: BackendCapabilities, kind: str) -> Iterator[BrokenRule]:
    if parameters.is_on_set and not backend.file_sets:
        hint = _or_other_targets("leave files out, so that each lane has one file")
        yield BrokenRule("files", "file sets", f"a {kind} target has no sets of files", hint)


def _other_parameters(parameters: Parameters, backend: BackendCapabilities, kind: str) -> Iterator[BrokenRule]:
    checks = (
        # Servers or shares that cannot share a file still allow sets of files: each has its own tree for its lanes.
        ("layout", parameters.layout, backend.layouts, parameters.files is None),
        ("method", parameters.method, backend.methods, parameters.method != "auto"),
        ("sync", parameters.sync, backend.sync, True),
    )
    for field, value, allowed, applies in checks:
        if applies and value not in allowed:
            message = f"a {kind} target has no {field}: {value}"
            yield BrokenRule(field, field, message, _or_other_targets(f"write {field}: {' or '.join(allowed)}"))
    if parameters.preallocate and not backend.preallocate:
        yield BrokenRule(
            "preallocate", "preallocate", f"a {kind} target cannot reserve space", "set preallocate: false"
        )
    if parameters.verify and not backend.verify:
        yield BrokenRule("verify", "verify", f"a {kind} target cannot verify data", "set verify: false")


def _cache(case: Case, backend: BackendCapabilities, kind: str) -> Iterator[BrokenRule]:
    parameters = case.parameters
    action = cache_action(parameters.cache, case.is_metadata or parameters.is_on_set)
    if action != CacheAction.keep and action not in backend.cache:
        message = f"a {kind} target cannot do cache: {parameters.cache}"
        yield BrokenRule("cache", "cache", message, _or_other_targets("use another cache policy"))
    if parameters.cache != "direct":
        return
    if not backend.direct:
        hint = _or_other_targets(
            "use cache: drop or evict" if CacheAction.evict in backend.cache else "use cache: keep"
        )
        yield BrokenRule("cache", "direct", f"a {kind} target has no O_DIRECT", hint, Code.NO_DIRECT_IO)
        return
    step = backend.direct_alignment_bytes
    files = [("file_size", parameters.file_size)]
    if parameters.file_sizes is not None:
        files = [("file_sizes", size) for size in parameters.sizes.weights]
    for field, size in (("record_size", parameters.record_size), *files):
        if step and size is not None and size % step:
            message = f"{field} {format_size(size)} is not a multiple of {format_size(step)}, which O_DIRECT needs"
            others = "drop or keep" if parameters.is_on_set else "drop or evict"
            hint = f"use multiples of {format_size(step)}, or cache: {others}"
            yield BrokenRule(field, f"{field} alignment", message, hint, Code.NO_DIRECT_IO)


def _or_other_targets(what: str) -> str:
    return f"{what}; or limit the workload to other targets with `targets`"
