"""Before the repeats of a run: targets are claimed and probed, the environment is described, ceilings are measured."""

import contextlib
import hashlib
import platform
from collections.abc import Mapping, Sequence

from assay import __version__
from assay.analyse.environments.diff import environment_diff
from assay.analyse.environments.limits import group_limits
from assay.analyse.environments.settings import WANTED, setting_lines
from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.handler import handler_of
from assay.launch.environment import capture_environment, sources_sha256
from assay.launch.environment.remote import sections_by_host
from assay.launch.other_load import load_message, sample_load
from assay.launch.remote_mounts import mount_facts
from assay.model.base import warning
from assay.model.result.environment import INSTANCES
from assay.model.result.run import LAUNCHER_SECTION, TargetPlace
from assay.model.room import hook
from assay.plan.ceilings import stated_ceilings
from assay.plan.methods import undecided_shapes
from assay.run.ceilings.meter import CeilingMeter
from assay.run.ceilings.passes import CeilingPasses
from assay.run.context import RunContext
from assay.run.methods import find_methods
from assay.run.places import claims, targets
from assay.run.places.target_layers import layer_notes
from assay.run.replayed_traces import place_traces
from assay.run.run_network import measure_network

BUSY_CHECK_FROM_SECONDS = 3.0
"""A run expected to take this long checks what else the machine does."""
CEILING_SHARE, NETWORK_SHARE = 0.4, 0.25
"""Most of the time left that the ceilings, or the network, may take; what does not fit is not measured."""


def prepare(context: RunContext) -> None:
    """Make the targets ready, and describe what the results depend on.

    Args:
        context: The session; its fleet is up. Locked devices and passes of ceilings are added to it.

    Raises:
        AssayError: A target cannot be used.
    """
    plan, study, destroy, print_line = context.plan, context.plan.study, context.destroy, context.print_line
    for name in plan.places:
        context.descriptors += handler_of(study.targets[name]).lock(targets.MachineLocker(destroy, print_line, name))
    claims.claim_targets(study, plan.places, context.store, print_line, context.fleet, context.silent, destroy)
    backends = _probed(context)
    targets.check_capable(plan.cases, backends, plan.source, plan.file)
    looks = targets.look_at_directories(study, context.names)
    places = targets.make_places(study, backends, looks)
    for line in (*targets.space_notes(context.estimate.peak_space, places), *layer_notes(places)):
        context.print_line(line)
    _look_around(context, places)
    _describe(context, looks)
    hosts = None if context.fleet.is_local else [host.name for host in context.fleet.hosts]
    context.store.describe(places=places, hosts=hosts)
    if study.network == "measure" and _has_unmeasured_links(context):
        with context.interruption.raise_on_signal():
            limit = NETWORK_SHARE * context.deadline.seconds_left() if context.deadline is not None else None
            context.store.describe(network=measure_network(study, context.fleet, context.print_line, limit))
    context.traces = place_traces(plan, context.engine, context.fleet, context.store, print_line)
    _find_methods(context)
    _measure_ceilings(context, backends)


def _look_around(context: RunContext, places: Sequence[TargetPlace]) -> None:
    """Report what else this machine does, unless the run is very short."""
    if not context.fleet.is_local or context.estimate.seconds < BUSY_CHECK_FROM_SECONDS:
        return
    devices = [layer.number for place in places for level in place.device_levels for layer in level]
    if line := load_message(sample_load(devices)):
        context.print_line(line)


def _has_unmeasured_links(context: RunContext) -> bool:
    """Whether links are still to be measured: all, or those of hosts that joined in a later stage."""
    known = context.store.info().network
    return known is None or not {host.name for host in context.fleet.hosts} <= set(known.host_names("client"))


def _probed(context: RunContext) -> dict[str, BackendCapabilities]:
    """Return what the engine of each target can do there."""
    study, owner = context.plan.study, claims.run_owner(context.store)
    backends: dict[str, BackendCapabilities] = {}
    for name in context.names:
        engine, launcher = context.plan.engines.get(name, context.engine), context.fleet.launcher_for(name)
        hosts = {} if context.fleet.is_local else context.fleet.launchers_by_host
        backends |= targets.probe_targets(study, [name], engine, launcher, owner, context.destroy, hosts)
    return backends


def _find_methods(context: RunContext) -> None:
    """Find how operations reach the kernel, once: a resumed run keeps the methods that it began with."""
    known = context.store.info().methods
    missing = undecided_shapes(context.plan.study, context.plan.cases, known)
    missing = {name: shapes for name, shapes in missing.items() if name not in context.plan.twins}
    if missing:
        owner = claims.run_owner(context.store)
        found = find_methods(context.plan.study, missing, context.fleet.launchers[0], owner, context.destroy)
        # The engines are compared with one method, not with the method that each would choose.
        twin_methods = [choice.model_copy(update={"target": name}) for name in context.plan.twins for choice in found]
        context.store.describe(methods=(*known, *found, *twin_methods))


def _measure_ceilings(context: RunContext, backends: dict[str, BackendCapabilities]) -> None:
    """Measure ceilings before all cases; a resumed run adds to those that it began with."""
    study = context.plan.study
    if study.ceilings == "none":
        if not context.store.info().ceilings:
            context.store.describe(ceilings=stated_ceilings(study, context.names))
        return
    meter = CeilingMeter(
        study,
        context.fleet.launchers[0],
        claims.run_owner(context.store),
        context.destroy,
        {name: backend for name, backend in backends.items() if name not in context.plan.twins},
        context.print_line,
        context.plan.cases,
        context.store.info().places,
        stop=context.stop_level,
        here=context.fleet.is_local,
        silent=context.silent,
    )
    if not context.store.info().ceilings:
        if meter.stored:
            about = "" if context.deadline else f", about {context.estimate.ceilings_before:.0f} s"
            context.print_line(f"measuring ceilings first: the most that memory, devices and the engine can do{about}")
        with context.deadline.limit_to_share(CEILING_SHARE) if context.deadline else contextlib.nullcontext():
            ceilings = meter.measure()
        own = [ceiling for ceiling in ceilings if ceiling.target]
        twin_ceilings = [ceiling.model_copy(update={"target": name}) for name in context.plan.twins for ceiling in own]
        if not context.interruption.count:
            context.store.describe(ceilings=(*ceilings, *twin_ceilings))
    if not context.plan.twins:
        context.passes = CeilingPasses(meter, context.store, _run_seconds(context), context.affords)


def _run_seconds(context: RunContext) -> float:
    """Return the estimated seconds of the whole run: at least its schedule's, and for two sides their limit."""
    schedule, blocks = context.plan.study.schedule, context.plan.blocks
    if blocks is not None:
        return blocks.seconds
    if context.deadline is not None:
        return max(0.0, context.deadline.seconds_left())
    return max(context.estimate.seconds, 0.0 if schedule is None else schedule.over / 1e9)


def _describe(context: RunContext, looks: Mapping[str, Look]) -> None:
    """Record versions and environment; differences of a resumed run are stored in addition."""
    info = context.store.info()
    study = context.plan.study
    local = study.inspectable_targets(context.names)
    found = {name: (study.targets[name].whole_device, targets.target_path(study, name)) for name in local}
    versions = {
        "assay": __version__,
        "assay_sha256": sources_sha256(),
        "assay-engine": context.engine.version,
        "engine_sha256": context.engine.sha256,
        "study_sha256": study_hash(context.plan.text),
        "python": platform.python_version(),
    }
    for name, engine in context.plan.engines.items():
        versions |= {f"assay-engine {name}": engine.version, f"engine_sha256 {name}": engine.sha256}
    environment = capture_environment(found, looks=looks) | context.fleet.environment(context.served)
    if not context.fleet.is_local:
        environment[LAUNCHER_SECTION] = {"name": study.launcher}
        for name in context.names:
            if study.targets[name].is_directory:
                environment[f"target {name}"] = mount_facts(context.fleet.shells, targets.target_path(study, name))
    if wanted := study.settings.required_values:
        environment[WANTED] = wanted
    for line in setting_lines(environment):
        context.print_line(f"settings: {line}")
    if context.fleet.is_local and (words := group_limits(environment, info.places).words):
        context.print_line(warning(f"a control group limits {words}: no rate can be higher"))
    job: dict[str, dict[str, str]] = hook("job_section")()
    if not info.versions:
        # The environment may already have sections on earlier batch jobs, which measured nothing.
        context.store.describe(versions=versions, environment={**info.environment, **environment, **job})
        return
    changed = {name: value for name, value in versions.items() if info.versions.get(name) != value}
    if changed:
        context.print_line(
            warning(f"the run continues with a different {', '.join(sorted(changed))} than it began with")
        )
        later = {f"{name} (resumed)": value for name, value in changed.items()}
        context.store.describe(versions={**info.versions, **later})
    _compare_environment(context, {**info.environment, **job}, {**environment, **job})
    context.store.describe(environment={**context.store.info().environment, **job})


def _compare_environment(
    context: RunContext, before: dict[str, dict[str, str]], now: dict[str, dict[str, str]]
) -> None:
    """Record changes since the run began that commonly change results, in sections `NAME (resumed)`."""
    begun = sections_by_host({name: part for name, part in before.items() if not name.endswith(" (resumed)")})
    # Sections that appear in a later stage, such as those of a new host, are stored now.
    joined = {name: part for name, part in now.items() if not sections_by_host({name: part}).keys() <= begun.keys()}
    both = {name: section for name, section in sections_by_host(now).items() if name in begun}
    # Other instances matter within a run, and between runs they always differ.
    changed = [item for item in environment_diff(begun, both) if item.matters or item.section == INSTANCES]
    later: dict[str, dict[str, str]] = {}
    for item in changed:
        later.setdefault(f"{item.section} (resumed)", {})[item.name] = item.after or ""
    if changed:
        names = ", ".join(f"{item.section} {item.name}" for item in changed)
        context.print_line(warning(f"the environment has changed since the run began: {names}"))
    if later or joined:
        context.store.describe(environment={**before, **joined, **later})


def study_hash(text: str) -> str:
    """Return the SHA-256 of a study, which tells whether it was changed by hand."""
    return hashlib.sha256(text.encode()).hexdigest()
