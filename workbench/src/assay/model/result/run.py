"""A run without its results."""

from functools import cached_property

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.result.added_repeats import AddedRepeats
from assay.model.result.ceiling import Ceiling
from assay.model.result.host_loss import HostLoss
from assay.model.result.imported import ImportedFile, imported_words
from assay.model.result.layers import NO_STORAGE_KINDS, Layer, device_levels, layer_chain
from assay.model.result.machine import Controls, MachineFinding
from assay.model.result.method import MethodChoice
from assay.model.result.network import NetworkMeasurements
from assay.model.result.stage import MeasuredStage
from assay.model.result.summary_page import SummaryPage
from assay.model.result.verdict import Verdict
from assay.model.study.blocks import Blocks
from assay.model.study.needs import TargetNeed
from assay.model.study.repeats import EQUAL_WITHIN, look_schedule, repeats_words

MEMORY_FILESYSTEMS = ("tmpfs", "ramfs")
"""File systems that are in memory."""


class TargetPlace(Frozen):
    """The location of a target as it was found at run time.

    Attributes:
        filesystem: ext4, tmpfs, ...; `block` for a device; `null` for the null target.
        memory_backed: The storage is memory itself, so that no cache in front of it matters.
        direct_bypasses_cache: O_DIRECT bypasses the page cache here.
        free_bytes: Free space; None if there is no such limit or it is not reported.
        device: Block device below, e.g. /dev/vda; None if there is none.
        limits: Features that this place lacks, one line each.
        stacked_on: What is below the device and may answer from the host's memory, such as `/dev/loop0, a loop device
            without direct I/O`; None if nothing like that is known.
        servers: Names of the servers of a target across a network, in order; empty if none are known.
        remote: The engine itself talks to servers, without a file system or page cache of its host in between. None for
            old runs, in which only such targets had servers.
        layers: Layers below it, from the top; empty if not inspected.
        started_server: Server that Assay started for it on this machine, for the run; empty if there is none.
    """

    target: str
    kind: str
    path: str
    filesystem: str
    memory_backed: bool
    direct_bypasses_cache: bool
    free_bytes: int | None
    device: str | None
    limits: tuple[str, ...] = ()
    stacked_on: str | None = None
    servers: tuple[str, ...] = ()
    remote: bool | None = None
    layers: tuple[Layer, ...] = ()
    started_server: str = ""

    @property
    def storage_chain(self) -> str:
        """All layers in one line, `ext4 on /dev/vda`; the type of the file system if no more is known."""
        return layer_chain(self.layers) or self.filesystem

    @cached_property
    def device_levels(self) -> tuple[tuple[Layer, ...], ...]:
        """Block devices below whose requests are counted, from the top down."""
        return device_levels(self.layers)

    @property
    def has_no_storage(self) -> bool:
        """Only engine and workbench can be measured: operations end at once, or as scripted."""
        return self.device is None and bool(self.layers) and self.layers[0].kind in NO_STORAGE_KINDS

    @property
    def is_memory(self) -> bool:
        """It is a directory of a file system in memory, as the user who names it knows."""
        return self.device != self.path and (
            self.filesystem in MEMORY_FILESYSTEMS or (bool(self.layers) and self.layers[0].kind == "memory")
        )


LAUNCHER_SECTION = "launcher"
"""Section of the environment with the item `name`: what started the engines on the hosts."""


class RunHead(Frozen):
    """What is known about a run at its start.

    Attributes:
        id: UTC start and study name, such as `20261121-211503-quickstart`.
        question: The question of the study.
        created_at: Seconds since 1970.
        seed: Seed of the order and the data.
        order: Order of the repeats: `random` or `sequential`.
        repeats: Repeats of each case; the largest number if `repeats_within` or `repeats_decide` is set.
        command: The command line.
        versions: Name -> version or hash: assay, assay-engine, engine_sha256, study_sha256, python, ...
        environment: Section -> name -> value as text, e.g. environment["memory"]["total"]; a missing item states the
            reason.
        places: One for each target.
        repeats_within: A case is repeated until both ends of the 95 % interval of each of its rates are within this
            share of the median; None if that does not decide.
        repeats_decide: A case is repeated until it is decided which target is faster, or that they differ by less than
            this share; None if that does not decide.
        repeats_min: Fewest repeats of a case if their number is not fixed, or with `blocks`; else None.
        repeats_time: Seconds of measuring after which no further round begins; None without such a limit.
        blocks: How two sides are measured in turns; None if the run is no such comparison.
        needs: Requirements for each target.
        imports: The files of other tools that all results come from; empty if Assay measured them.
    """

    id: str
    study: str
    question: str
    description: str
    created_at: float
    seed: int
    order: str
    repeats: int
    command: str
    versions: dict[str, str] = Field(default_factory=dict)
    environment: dict[str, dict[str, str]] = Field(default_factory=dict)
    places: tuple[TargetPlace, ...] = ()
    repeats_within: float | None = None
    repeats_decide: float | None = None
    repeats_min: int | None = None
    repeats_time: float | None = None
    blocks: Blocks | None = None
    needs: tuple[TargetNeed, ...] = ()
    imports: tuple[ImportedFile, ...] = ()

    @property
    def import_words(self) -> str:
        """Where its results come from: `imported from fio 3.33, FILE`; empty if Assay measured them."""
        return imported_words(self.imports)

    @property
    def launcher(self) -> str:
        """What started the engines on the hosts: `ssh`, `mpirun` or `srun`; empty if unknown."""
        return self.environment.get(LAUNCHER_SECTION, {}).get("name", "")


class RunInfo(RunHead):
    """A run without its results.

    Attributes:
        folder: Folder in which the run is stored.
        study_text: Text of the study file.
        status: `running`, `interrupted`, `complete` or `complete with errors`.
        finished_at: Seconds since 1970; None before its end.
        planned, finished: Requested repeats of all cases together, and those with an outcome. Repeats that are
            unnecessary because a case is known well enough are not counted as requested.
        ceilings: Measured before the cases or stated in the study.
        hosts: Names of the machines that generate the load, in order; empty if it is only this one.
        network: Measurements of the network between hosts and servers; None if not measured.
        methods: How operations reach the kernel where the study leaves it open; determined before the first repeat.
        controls: Evaluation of the control measurements between the repeats; None if there were too few, or before the
            end.
        machine: The verdict on the machine that follows from `controls`; None if there is none.
        answers: The answer to each question in words, as of the end; empty before, and for very large runs.
        page: The first page of the report in words; None before the end, and for very large runs.
        stages: Measured stages, if the run is taken in stages.
        added_repeats: Repeats that were added after the end, for undecided points.
        host_losses: Hosts whose instances their cloud ended during the run, in order.
    """

    folder: str
    study_text: str
    status: str
    finished_at: float | None
    planned: int
    finished: int
    ceilings: tuple[Ceiling, ...] = ()
    hosts: tuple[str, ...] = ()
    network: NetworkMeasurements | None = None
    methods: tuple[MethodChoice, ...] = ()
    controls: Controls | None = None
    machine: MachineFinding | None = None
    answers: tuple[str, ...] = ()
    page: SummaryPage | None = None
    stages: tuple[MeasuredStage, ...] = ()
    added_repeats: tuple[AddedRepeats, ...] = ()
    host_losses: tuple[HostLoss, ...] = ()

    @property
    def lost_server(self) -> HostLoss | None:
        """The host that took the data under test with it, so that the run cannot be resumed; None if there is none."""
        return next((loss for loss in self.host_losses if loss.is_server), None)

    @property
    def equal_within(self) -> float:
        """Targets that differ by at most this share count as equal."""
        if self.blocks is not None:
            return self.blocks.within
        return EQUAL_WITHIN if self.repeats_decide is None else self.repeats_decide

    @property
    def ignored_verdicts(self) -> frozenset[Verdict]:
        """Verdicts that do not affect the question of the run."""
        return frozenset() if self.blocks is None else self.blocks.ignored_verdicts

    @property
    def symmetric_verdicts(self) -> frozenset[Verdict]:
        """Verdicts that affect both sides alike, so that they make neither slower."""
        return frozenset() if self.blocks is None else self.blocks.symmetric_verdicts

    @property
    def repeats_words(self) -> str:
        """The number of repeats in words: `3 repeats`, or `8 to 30 repeats`."""
        return repeats_words(self.repeats, self.repeats_min)

    @property
    def is_adaptive(self) -> bool:
        """Whether the number of repeats depended on the results."""
        return self.repeats_min is not None

    @property
    def look_count(self) -> int:
        """Number of (possible) interim looks at what is decided; 1 if the run has none."""
        if self.blocks is not None:
            return len(self.blocks.looks)
        first = 1 if self.repeats_decide is None else len(look_schedule(self.repeats_min or self.repeats, self.repeats))
        return first + len(self.added_repeats)
