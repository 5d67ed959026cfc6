"""A run without its results."""

from functools import cached_property

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.result.ceiling import Ceiling
from assay.model.result.first_page import FirstPage
from assay.model.result.layers import NO_STORAGE, Layer, chain, device_levels
from assay.model.result.machine import Controls, MachineFinding
from assay.model.result.method import MethodChoice
from assay.model.result.network import Network
from assay.model.result.settling import Settling
from assay.model.result.stage import StageDone
from assay.model.result.verdict import Verdict
from assay.model.study.blocks import Blocks
from assay.model.study.needs import Need
from assay.model.study.repeats import EQUAL_WITHIN, looks, repeats_words

IN_MEMORY = ("tmpfs", "ramfs")
"""File systems that are memory."""


class Place(Frozen):
    """Where a target turned out to be.

    Attributes:
        filesystem: ext4, tmpfs, ...; `block` for a device; `null` for the null target.
        memory_backed: The store is memory itself, so that a cache in front of it means nothing.
        direct_bypasses_cache: O_DIRECT means what it says here.
        free_bytes: Space that is left; None where there is no such thing, or it is not told.
        device: Block device below, e.g. /dev/vda; None if there is none.
        limits: What this place cannot do, one line each.
        stacked_on: What lies below the device and may answer from the host's memory, such as `/dev/loop0, a loop
            device without direct I/O`; None if nothing is known of such a thing.
        servers: Names of the servers of a target across a network, in order; empty where none are known.
        remote: The engine itself speaks across a network: no file system and no page cache of its host is between. None
            of old runs, where only such targets had servers.
        layers: What lies below it, from the top; empty where nothing was looked at.
        started: Server that Assay started for it on this machine, for the run; empty if there is none.
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
    started: str = ""

    @property
    def lies_on(self) -> str:
        """All layers in one line, `ext4 on /dev/vda`; the type of the file system where nothing more is known."""
        return chain(self.layers) or self.filesystem

    @cached_property
    def device_levels(self) -> tuple[tuple[Layer, ...], ...]:
        """Block devices below whose requests are counted, from the top down."""
        return device_levels(self.layers)

    @property
    def no_storage(self) -> bool:
        """There is nothing to measure but engine and workbench: operations end at once, or as scripted."""
        return self.device is None and bool(self.layers) and self.layers[0].kind in NO_STORAGE

    @property
    def is_memory(self) -> bool:
        """It is a directory of a file system that is memory itself, which whoever names it knows."""
        return self.device != self.path and (
            self.filesystem in IN_MEMORY or (bool(self.layers) and self.layers[0].kind == "memory")
        )


LAUNCHER = "launcher"
"""The section of the environment that says what started the engines on the hosts; its item is `name`."""


class RunHead(Frozen):
    """What is known of a run from its beginning.

    Attributes:
        id: `20261121-211503-quickstart` and the like: UTC start and study name.
        question: What the study asks.
        created_at: Seconds since 1970.
        seed: Decides the order and the data.
        order: Of the repeats: `random` or `sequential`.
        repeats: Repeats of each case; with `repeats_within` the greatest number of them.
        command: The command line.
        versions: Name -> version or hash: assay, assay-engine, engine_sha256, study_sha256, python, ...
        environment: Section -> name -> value as text, e.g. environment["memory"]["total"]; missing items say why.
        places: One per target.
        repeats_within: A case is not repeated any more when neither end of the 95 % interval of any of its rates is
            further from the median than this share of it; None if the number of repeats is fixed.
        repeats_decide: A case is not repeated any more when it is decided which target is faster, or that they differ
            by less than this share; None if that is not asked for.
        repeats_least: Fewest repeats of a case if their number is not fixed, or with `blocks`; else None.
        repeats_time: Seconds of measuring after which no further round begins; None without such a limit.
        blocks: How its two sides are measured in turns; None of a run that is no comparison.
        needs: What each target must reach.
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
    places: tuple[Place, ...] = ()
    repeats_within: float | None = None
    repeats_decide: float | None = None
    repeats_least: int | None = None
    repeats_time: float | None = None
    blocks: Blocks | None = None
    needs: tuple[Need, ...] = ()

    @property
    def launcher(self) -> str:
        """What started the engines on the hosts: `ssh`, `mpirun` or `srun`; empty where nothing says so."""
        return self.environment.get(LAUNCHER, {}).get("name", "")


class RunInfo(RunHead):
    """A run without its results.

    Attributes:
        folder: Where it is stored.
        study_text: The study file as it was.
        status: `running`, `interrupted`, `complete` or `complete with errors`.
        finished_at: Seconds since 1970; None before.
        planned: Repeats that are asked for, of all cases together; finished: how many have an outcome. Those of cases
            that were known well enough before are not asked for any more.
        ceilings: Measured before the cases or stated in the study.
        hosts: Names of the machines that generate the load, in order; empty if it is this one only.
        network: What lies between them and the servers; None if it was not measured.
        methods: How operations reach the kernel where the study leaves it open, found out before the first repeat.
        controls: What was measured without storage between the repeats shows; None if there were too few, or the run is
            not over.
        machine: The verdict on the machine that follows from it; None if there is none.
        answers: What the run says of each question, in words, as it ended; empty before, and of a very large run.
        page: The first page of its report in words, likewise.
        stages: Those that were measured, of a run that is taken in stages.
        settlings: Repeats that were added when it was over, for what was undecided.
    """

    folder: str
    study_text: str
    status: str
    finished_at: float | None
    planned: int
    finished: int
    ceilings: tuple[Ceiling, ...] = ()
    hosts: tuple[str, ...] = ()
    network: Network | None = None
    methods: tuple[MethodChoice, ...] = ()
    controls: Controls | None = None
    machine: MachineFinding | None = None
    answers: tuple[str, ...] = ()
    page: FirstPage | None = None
    stages: tuple[StageDone, ...] = ()
    settlings: tuple[Settling, ...] = ()

    @property
    def equal_within(self) -> float:
        """Targets that differ by no more than this share count as equal."""
        if self.blocks is not None:
            return self.blocks.within
        return EQUAL_WITHIN if self.repeats_decide is None else self.repeats_decide

    @property
    def ignored(self) -> frozenset[Verdict]:
        """Verdicts that do not bear on the question of the run."""
        return frozenset() if self.blocks is None else self.blocks.ignored

    @property
    def alike(self) -> frozenset[Verdict]:
        """Verdicts that make neither side of a run the slower one."""
        return frozenset() if self.blocks is None else self.blocks.alike

    @property
    def repeats_words(self) -> str:
        """`3 repeats`, or `8 to 30 repeats`."""
        return repeats_words(self.repeats, self.repeats_least)

    @property
    def adaptive(self) -> bool:
        """How often a case was repeated depended on what was measured."""
        return self.repeats_least is not None

    @property
    def looks(self) -> int:
        """How often it was looked at, or may have been, to see what it has decided; 1 if that was not asked for."""
        if self.blocks is not None:
            return len(self.blocks.looks)
        first = 1 if self.repeats_decide is None else len(looks(self.repeats_least or self.repeats, self.repeats))
        return first + len(self.settlings)
