"""How often what Assay concludes from repeats is right: whole studies of a known truth, by the program's own functions.

`python tests/support/simulate_decisions.py --studies 2000 --seed 1 --only CELL --into FILE` simulates so many studies
of each cell whose name has CELL, and prints a table in Markdown. With `--into` every chunk is kept in that file, one
line each: whoever calls it again with the same arguments goes on, after `--seconds` it ends with exit code 75, and
`--studies 0` prints what is known. `--set assay.analyse.statistics.autocorrelation._ERRORS=2` tries a change.

What is simulated is one level below the engine: the rates of the repeats. From there on everything is real: rows are
estimated, compared and decided, `assay.run.settle.Rounds` and `assay.run.rounds.run_rounds` end the repeats. Where
chance draws something, it depends on the seed, the cell and the number of the chunk only.
"""

import argparse
import json
import math
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast
from unittest.mock import patch

import numpy as np
from builders import make_case, make_run, row_of
from noise import Floats, heavy, wandering

import assay.run.rounds
import assay.run.settle
from assay.analyse.anomalies.trend import trend_notes
from assay.analyse.compare import compare, key_of
from assay.analyse.decide import decide
from assay.analyse.estimate import estimate
from assay.analyse.run_variation import run_variation
from assay.analyse.runs import compare_runs
from assay.analyse.statistics.autocorrelation import autocorrelation_notes, known_autocorrelation
from assay.judge.rules import unstable
from assay.model.frozen import Frozen
from assay.model.result.decision import PointDecision, PointOutcome
from assay.model.result.evidence import Evidence
from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.result.sample import Sample
from assay.model.result.verdict import Finding
from assay.model.study.blocks import Blocks
from assay.model.study.case import Case
from assay.model.study.repeats import DEFAULT_REPEATS, EQUAL_WITHIN, Repeats
from assay.run.rounds import run_rounds
from assay.run.settle import RoundRules
from assay.store import RunStore

Random = np.random.Generator
Shape = tuple[int, int, int]
"""Points, sides and rounds."""
Noise = Callable[[Random, Shape], Floats]
Counts = Counter[str]
Value = TypeVar("Value", bound=Frozen)

TRUE = 500e6
SIGMA = 0.03
OWN = 0.03
DRIFT = math.log(1 - 0.15)
SIDES = ("disk", "memory")
AGAIN = 75
"""Exit code: there is more to do."""


def _normal(random: Random, shape: Shape) -> Floats:
    return np.log1p(SIGMA * random.standard_normal(shape))


def _skewed(random: Random, shape: Shape) -> Floats:
    """Log-normal even as logarithms."""
    return SIGMA * (random.lognormal(0, 0.5, shape) - math.exp(0.125)) / 0.604


def _alike(autocorrelation: float) -> Noise:
    return lambda random, shape: SIGMA * wandering(random, shape, autocorrelation)


def _own(random: Random, shape: Shape) -> Floats:
    """The day of a run is the same for both sides of a point."""
    return OWN * random.standard_normal((shape[0], 1, 1)) + _normal(random, shape)


def _own_apart(random: Random, shape: Shape) -> Floats:
    """Each side of a point has its own day."""
    return OWN * random.standard_normal((shape[0], shape[1], 1)) + _normal(random, shape)


def _shared(autocorrelation: float) -> Noise:
    """What comes and goes does so for all rows of a side; beside it each has half as much noise of its own."""

    def make(random: Random, shape: Shape) -> Floats:
        return SIGMA * wandering(random, (1, *shape[1:]), autocorrelation) + SIGMA / 2 * random.standard_normal(shape)

    return make


def _two_valued(random: Random, shape: Shape) -> Floats:
    """Each repeat is fast or slow by chance; the geometric mean is 1."""
    fast = random.random(shape) < 0.5
    return np.where(fast, 0.5, -0.5) * -math.log(0.6) + _normal(random, shape)


def _drifting(random: Random, shape: Shape) -> Floats:
    """The machine loses 15 % from the first round to the last that there may be; of both sides."""
    return DRIFT * (np.linspace(0, 1, shape[2]) - 0.5) + _normal(random, shape)


def _drifting_apart(random: Random, shape: Shape) -> Floats:
    """Only the side that is faster loses so much; what is true is the middle of all rounds that there may be."""
    course = np.zeros(shape)
    course[:, -1] = DRIFT * (np.linspace(0, 1, shape[2]) - 0.5)
    return course + _normal(random, shape)


NOISES: dict[str, Noise] = {
    "normal": _normal,
    "log-normal": _skewed,
    "t3": lambda random, shape: SIGMA * heavy(random, shape),
    "alike 0.5": _alike(0.5),
    "alike 0.8": _alike(0.8),
    "rows alike 0.0": _shared(0.0),
    "rows alike 0.5": _shared(0.5),
    "rows alike 0.8": _shared(0.8),
    "own level": _own,
    "own level, sides apart": _own_apart,
    "two-valued": _two_valued,
    "drifting": _drifting,
    "drifting, one side": _drifting_apart,
}


@dataclass(frozen=True)
class Layout:
    """The points of a study: of how many cases with how many operations."""

    cases: tuple[int, ...]

    @property
    def points(self) -> int:
        return sum(self.cases)


ONE = Layout((1,))
QUICKSTART = Layout((6,) * 12 + (1,) * 3)
PLACES = Layout((2, 2))


@cache
def _cases(layout: Layout) -> tuple[tuple[Case, ...], ...]:
    """Of each side."""
    return tuple(
        tuple(
            make_case(
                f"{side}-{n}", side, tuple(f"read{k}" for k in range(count)), axes={"record_size": 4096 * (n + 1)}
            )
            for n, count in enumerate(layout.cases)
        )
        for side in SIDES
    )


@cache
def _empty(layout: Layout) -> tuple[tuple[ResultRow, ...], ...]:
    """The rows of each side, without repeats; `measured` gives them some."""
    return tuple(
        tuple(row_of(case, [1.0], operation=operation) for case in side for operation in case.operations)
        for side in _cases(layout)
    )


def measured(row: ResultRow, samples: Sequence[Sample]) -> ResultRow:
    """The row with these repeats. Of its estimate nothing that is simulated with such a row reads more than `median`.

    Made by copying, for speed.
    """
    assert row.throughput is not None
    middle = sorted(sample.throughput for sample in samples)[len(samples) // 2]
    return _with(row, samples=tuple(samples), throughput=_with(row.throughput, median=middle, n=len(samples)))


def _samples(row: ResultRow, rates: Sequence[float]) -> list[Sample]:
    return [_with(row.samples[0], repeat=n, throughput=rate) for n, rate in enumerate(rates, start=1)]


def _with(value: Value, **fields: Any) -> Value:
    """A copy with other fields; several times as fast as `model_copy`, which takes a fifth of the time otherwise."""
    made = type(value).__new__(type(value))
    object.__setattr__(made, "__dict__", {**value.__dict__, **fields})
    object.__setattr__(made, "__pydantic_fields_set__", value.__pydantic_fields_set__)
    object.__setattr__(made, "__pydantic_extra__", None)
    object.__setattr__(made, "__pydantic_private__", None)
    return made


class Drawn:
    """A study that could be measured in full: stands for its store, and tells what was drawn beforehand."""

    def __init__(self, layout: Layout, rates: Floats) -> None:
        self.layout = layout
        self.done = 0
        self.lengths: dict[str, int] = {}
        self._rows = [
            [(row, _samples(row, line)) for row, line in zip(rows, lines.tolist(), strict=True)]
            for rows, lines in zip(_empty(layout), rates.transpose(1, 0, 2), strict=True)
        ]

    def rows(self, done: int) -> list[ResultRow]:
        """After so many rounds; a case that was settled has no more repeats since."""
        return [
            measured(row, samples[: min(done, self.lengths.get(row.case.id, done))])
            for side in self._rows
            for row, samples in side
        ]

    def cases(self) -> tuple[Case, ...]:
        return tuple(case for side in _cases(self.layout) for case in side)

    def case_count(self) -> int:
        return len(self.cases())

    def settle(self, case: str, why: str) -> int:
        self.lengths[case] = self.done
        return 1

    def settled(self) -> dict[str, str]:
        return dict.fromkeys(self.lengths, "")

    def attempts(self) -> tuple[()]:
        return ()

    controls = attempts

    @property
    def store(self) -> RunStore:
        return cast(RunStore, self)


def by_repeats(study: Drawn, repeats: Repeats) -> int:
    """Repeat as `assay run` does; how often it may have been looked at."""
    rounds = RoundRules(study.store, repeats, study.cases())
    with patch.object(assay.run.settle, "rows_up_to_round", lambda store, done: store.rows(done)):
        for repeat in range(1, repeats.max + 1):
            study.done = repeat - 1
            rounds.settle_before_round(repeat)
            if len(study.lengths) == study.case_count():
                break
    return len(repeats.look_numbers)


def by_rounds(study: Drawn, blocks: Blocks) -> int:
    """Repeat as `assay ab` does; how often it may have been looked at."""

    def execute(jobs: Sequence[tuple[str, int]]) -> bool:
        study.done = jobs[0][1]
        return True

    jobs = [("", number) for number in range(1, blocks.max_rounds + 1)]
    with patch.object(assay.run.rounds, "rows_up_to_round", lambda store, done: store.rows(done)):
        run_rounds(study.store, blocks, jobs, cast(Any, execute), lambda case, fewer: None, lambda text: None)
    return len(blocks.looks)


def wrong(point: PointDecision, ratio: float) -> str:
    """What is wrong of an answer, if the other side is so many times as fast in truth; empty if nothing is."""
    if point.outcome is PointOutcome.EQUAL:
        apart = 1 - 1 / ratio
        if apart > EQUAL_WITHIN:
            return "equal"
        return "bound" if point.within is not None and point.within < apart else ""
    if point.outcome is PointOutcome.FASTER:
        if ratio == 1:
            return "faster"
        if point.winner == SIDES[0]:
            return "direction"
        return "bound" if point.at_least > ratio else ""
    return ""


BLOCKS = Blocks(base=SIDES[0], other=SIDES[1], seconds=1e9)
QUICK_REPEATS = Repeats(max=12, min=5, decide=EQUAL_WITHIN)


@dataclass(frozen=True)
class Deciding:
    """Studies that stop by themselves.

    Attributes:
        ratio: How many times as fast the other side is.
        every: At each so many points, the first one included; elsewhere the sides are equal.
    """

    layout: Layout
    most: int
    stop: Callable[[Drawn], int]
    noise: str
    ratio: float
    every: int = 1
    chunk: int = 100

    def __call__(self, random: Random, studies: int) -> Counts:
        found: Counts = Counter()
        ratios = [self.ratio if n % self.every == 0 else 1.0 for n in range(self.layout.points)]
        for _ in range(studies):
            logs = NOISES[self.noise](random, (self.layout.points, 2, self.most))
            logs[:, 1] += np.log(ratios)[:, None]
            study = Drawn(self.layout, TRUE * np.exp(logs))
            looks = self.stop(study)
            rows = study.rows(self.most)
            pairs = compare(rows, looks)
            points = {
                (decision.operation, tuple(point.axes.items())): point
                for decision in decide(rows, pairs)
                for point in decision.points
            }
            ends = [points[row.operation, tuple(row.case.axes.items())] for row in rows[: self.layout.points]]
            kinds = {kind for end, ratio in zip(ends, ratios, strict=True) if (kind := wrong(end, ratio))}
            found["studies"] += 1
            found["wrong"] += bool(kinds)
            found.update(f"wrong {kind}" for kind in kinds)
            found.update(f"{end.outcome}" for end, ratio in zip(ends, ratios, strict=True) if ratio == self.ratio)
            found["told apart"] += sum(end.outcome is not PointOutcome.OPEN for end in points.values())
            found.update(f"n {len(row.samples)}" for row in rows[: self.layout.points])
            found["trend told"] += bool(trend_notes(rows))
        return found


def _stop(limit: Repeats) -> Callable[[Drawn], int]:
    return lambda study: by_repeats(study, limit)


def _in_turns(study: Drawn) -> int:
    return by_rounds(study, BLOCKS)


@dataclass(frozen=True)
class Covering:
    """The printed interval of each result of one target."""

    layout: Layout
    noise: str
    count: int
    chunk: int = 50

    def __call__(self, random: Random, studies: int) -> Counts:
        found: Counts = Counter()
        for _ in range(studies):
            rates = TRUE * np.exp(NOISES[self.noise](random, (self.layout.points, 2, self.count)))
            if self.layout is ONE:
                rates = rates[:, :1]
            series = rates.reshape(-1, self.count).tolist()
            autocorrelation = known_autocorrelation(series)
            figures = [estimate(line, autocorrelation or 0.0) for line in series]
            missed = [n for n, one in enumerate(figures) if not cast(float, one.low) <= TRUE <= cast(float, one.high)]
            found.update({"studies": 1, "intervals": len(series), "held": len(series) - len(missed)})
            found["reach"] += sum(round(1e6 * (one.relative_reach or 0)) for one in figures)
            found["autocorrelation"] += round(1e6 * (autocorrelation or 0))
            if not missed:
                continue
            if autocorrelation_notes(autocorrelation, [self.count] * len(series)):
                found["missed, autocorrelation told"] += len(missed)
            if trend_notes(self._rows(series)):
                found["missed, trend told"] += len(missed)
            found["missed, unstable"] += sum(self._unstable(series[n], autocorrelation or 0.0) for n in missed)
        return found

    def _rows(self, series: Sequence[Sequence[float]]) -> Iterator[ResultRow]:
        for row, line in zip((row for side in _empty(self.layout) for row in side), series, strict=False):
            yield measured(row, _samples(row, line))

    def _unstable(self, line: Sequence[float], autocorrelation: float) -> bool:
        (row,) = _empty(ONE)[0]
        samples = tuple(_samples(row, line))
        figure = estimate(line, autocorrelation)
        found = unstable(Evidence(row.case, "read", samples, samples, None, None, figure, len(line)))
        return isinstance(found, Finding)


@dataclass(frozen=True)
class Runs:
    """Runs of one study on different days, compared by their medians.

    Attributes:
        together: The day is the same for all rows of a run; else each row has its own.
        sides: Runs before and after.
        known: Runs of the study in the folder, those before included.
        ratio: How many times as fast the run after is, at each row.
    """

    points: int
    together: bool
    sides: tuple[int, int]
    known: int
    ratio: float = 1.0
    repeats: int = 5
    chunk: int = 50

    def __call__(self, random: Random, studies: int) -> Counts:
        found: Counts = Counter()
        layout = Layout((1,) * self.points)
        rows = _empty(layout)[0]
        earlier, (before, after) = max(self.known, self.sides[0]), self.sides
        for _ in range(studies):
            days = OWN * random.standard_normal((earlier + after, 1 if self.together else self.points, 1))
            logs = days + np.log1p(SIGMA * random.standard_normal((earlier + after, self.points, self.repeats)))
            logs[earlier:] += math.log(self.ratio)
            rates = TRUE * np.exp(logs)
            runs = [
                [measured(row, _samples(row, line)) for row, line in zip(rows, run.tolist(), strict=True)]
                for run in rates[earlier - before :]
            ]
            medians = np.median(rates[:earlier], axis=2)
            history = {key_of(row): medians[:, n].tolist() for n, row in enumerate(rows)} if self.known else {}
            parts = [self._analysis(layout, run) for run in runs]
            pairs = compare_runs(parts[:before], parts[before:], variation=run_variation(history))
            ends = [one.comparison for one in pairs.rows]
            found["studies"] += 1
            called = [one for one in ends if one.separable]
            found["called"] += len(called)
            found["points"] += len(ends)
            found["wrong"] += any(self.ratio == 1 or one.ratio < 1 for one in called)
            held = [one for one in ends if one.low is not None and one.high is not None]
            found["intervals"] += len(held)
            found["held"] += sum(cast(float, one.low) <= self.ratio <= cast(float, one.high) for one in held)
        return found

    def _analysis(self, layout: Layout, rows: Sequence[ResultRow]) -> RunAnalysis:
        return RunAnalysis.model_construct(run=_run(), cases=_cases(layout)[0], rows=tuple(rows))


@cache
def _run() -> Any:
    return make_run()


@dataclass(frozen=True)
class Old:
    """What was done before: Welch's test of each row on a fixed number of repeats, Holm's adjustment over the rows."""

    points: int
    noise: str
    every: int
    count: int
    ratio: float = 1.1
    chunk: int = 200

    def __call__(self, random: Random, studies: int) -> Counts:
        from scipy.stats import ttest_ind

        different = np.arange(self.points) % self.every == 0
        logs = np.array([NOISES[self.noise](random, (self.points, 2, self.count)) for _ in range(studies)])
        found: Counts = Counter({"studies": studies})
        for ratio in (1.0, self.ratio):
            there = logs[:, :, 1] + np.where(different, math.log(ratio), 0.0)[None, :, None]
            p = np.asarray(ttest_ind(logs[:, :, 0], there, axis=2, equal_var=False).pvalue)
            order = np.argsort(p, axis=1)
            steps = np.take_along_axis(p, order, 1) * (self.points - np.arange(self.points))
            adjusted = np.empty_like(p)
            np.put_along_axis(adjusted, order, np.maximum.accumulate(steps, axis=1), 1)
            if ratio == 1:
                found["wrong"] += int((adjusted < 0.05).any(axis=1).sum())
            else:
                found["called"] += int((adjusted[:, different] < 0.05).sum())
                found["points"] += studies * int(different.sum())
        return found


POWER = 0.9
OLD_COUNTS = (*range(3, 31), 35, 40, 50, 60, 80, 100, 130, 160, 200)
Cell = Deciding | Covering | Runs | Old


def cells() -> dict[str, Cell]:
    """Everything that can be simulated."""
    found: dict[str, Cell] = {}
    for noise in NOISES:
        for count in (5, 10, 20):
            found[f"interval, one row, {noise}, n={count}"] = Covering(ONE, noise, count, chunk=500)
            found[f"interval, 150 rows, {noise}, n={count}"] = Covering(QUICKSTART, noise, count)
    shapes: dict[str, Callable[..., Deciding]] = {
        "repeats one row": partial(Deciding, ONE, DEFAULT_REPEATS.max, _stop(DEFAULT_REPEATS), chunk=250),
        "repeats quickstart": partial(Deciding, QUICKSTART, QUICK_REPEATS.max, _stop(QUICK_REPEATS), chunk=50),
        "repeats quickstart to 20": partial(
            Deciding, QUICKSTART, DEFAULT_REPEATS.max, _stop(DEFAULT_REPEATS), chunk=50
        ),
        "A/B one row": partial(Deciding, ONE, BLOCKS.max_rounds, _in_turns, chunk=100),
        "A/B two-places": partial(Deciding, PLACES, BLOCKS.max_rounds, _in_turns, chunk=50),
    }
    for shape, make in shapes.items():
        for noise in NOISES:
            for ratio in (1.0, 1.03, 1.1):
                found[f"{shape}, {noise}, {ratio:.2f}"] = make(noise=noise, ratio=ratio)
            if make(noise=noise, ratio=1.0).layout.points > 1:
                found[f"{shape}, {noise}, 1.10 at a fifth"] = make(noise=noise, ratio=1.1, every=5)
    for points in (1, 12, 75):
        for together in (False, True):
            day = "one day a run" if together else "a day a row"
            for sides, known in (((1, 1), 0), ((1, 1), 3), ((1, 1), 5), ((1, 1), 10), ((2, 2), 5), ((3, 3), 0)):
                for ratio in (1.0, 1.1):
                    name = f"runs {sides[0]}:{sides[1]}, {known} known, {points} rows, {day}, {ratio:.2f}"
                    found[name] = Runs(points, together, sides, known, ratio)
    for noise in NOISES:
        for points, every in ((1, 1), (75, 1), (75, 5)):
            for count in OLD_COUNTS:
                share = " at a fifth" if every > 1 else ""
                found[f"old, {points} rows, {noise}, 1.10{share}, n={count}"] = Old(points, noise, every, count)
    return found


def simulate(wanted: dict[str, Cell], known: dict[str, dict[int, Counts]], args: argparse.Namespace) -> bool:
    """Do what is not known yet, in order; whether all is done."""
    began = time.monotonic()
    for name, cell in wanted.items():
        if isinstance(cell, Old) and _powerful(name, known):
            continue
        for number in range(math.ceil(args.studies / cell.chunk)):
            if number in known.get(name, {}):
                continue
            if time.monotonic() - began > args.seconds:
                return False
            random = np.random.default_rng([args.seed, zlib.crc32(name.encode()), number])
            counts = cell(random, cell.chunk)
            known.setdefault(name, {})[number] = counts
            if args.into:
                with args.into.open("a") as file:
                    file.write(json.dumps([name, args.seed, args.set, number, counts]) + "\n")
    return True


def _powerful(name: str, known: dict[str, dict[int, Counts]]) -> bool:
    """Fewer repeats have the power that is looked for."""
    group, _, count = name.rpartition("n=")
    return any(
        sum(chunk["called"] for chunk in chunks.values()) >= POWER * sum(chunk["points"] for chunk in chunks.values())
        for other, chunks in known.items()
        if other.startswith(group) and int(other.rpartition("=")[2]) < int(count)
    )


def read(path: Path, seed: int, changed: Sequence[str]) -> dict[str, dict[int, Counts]]:
    found: dict[str, dict[int, Counts]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        name, of_seed, of_changed, number, counts = json.loads(line)
        if (of_seed, of_changed) == (seed, list(changed)):
            found.setdefault(name, {})[number] = Counter(counts)
    return found


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _repeats(counts: Counts) -> str:
    """Median and mean number of repeats of a point."""
    values = sorted((int(key[2:]), count) for key, count in counts.items() if key.startswith("n "))
    every = np.repeat([value for value, _ in values], [count for _, count in values])
    return f"{np.median(every):.0f}, {every.mean():.1f}" if len(every) else "-"


def _deciding(name: str, c: Counts) -> list[str]:
    kinds = ", ".join(f"{kind} {_share(c[f'wrong {kind}'], c['studies'])}" for kind in KINDS if c[f"wrong {kind}"])
    ends = [c[outcome] for outcome in ("faster", "equal", "open")]
    shares = [_share(end, sum(ends)) for end in ends]
    told_trend = _share(c["trend told"], c["studies"])
    return [name, f"{c['studies']}", _share(c["wrong"], c["studies"]), kinds, *shares, _repeats(c), told_trend]


KINDS = ("faster", "direction", "equal", "bound")


def _covering(name: str, c: Counts) -> list[str]:
    held, every = c["held"], c["intervals"]
    why = [_share(c[f"missed, {what}"], every - held) for what in ("unstable", "trend told", "autocorrelation told")]
    return [name, f"{every}", _share(held, every), *why, f"{c['reach'] / every / 1e4:.1f} %"]


def _runs(name: str, c: Counts) -> list[str]:
    return [
        *(name, f"{c['studies']}", _share(c["wrong"], c["studies"])),
        *(_share(c["called"], c["points"]), _share(c["held"], c["intervals"])),
    ]


def _old(name: str, c: Counts) -> list[str]:
    return [name, f"{c['studies']}", _share(c["called"], c["points"]), _share(c["wrong"], c["studies"])]


TABLES: tuple[tuple[type, tuple[str, ...], Callable[[str, Counts], list[str]]], ...] = (
    (
        Covering,
        ("cell", "intervals", "hold", "missed: unstable", "trend told", "autocorrelation told", "reach"),
        _covering,
    ),
    (
        Deciding,
        ("cell", "studies", "wrong", "kinds", "faster", "equal", "open", "repeats (median, mean)", "trend told"),
        _deciding,
    ),
    (Runs, ("cell", "studies", "wrong", "rows called", "intervals hold"), _runs),
    (Old, ("cell", "studies", "power", "wrong at 1.00"), _old),
)


def table(wanted: dict[str, Cell], known: dict[str, dict[int, Counts]]) -> Iterator[str]:
    """In Markdown; of the rule before only the smallest number of repeats with a power of 0.9."""
    for kind, heads, line in TABLES:
        lines = []
        for name, cell in wanted.items():
            if isinstance(cell, kind) and name in known:
                counts = sum(known[name].values(), Counter())
                lines.append(line(name, counts))
        if kind is Old:
            lines = list(_first(lines))
        if lines:
            yield f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}"
            yield from (f"| {' | '.join(words)} |" for words in lines)


def _first(lines: Iterable[list[str]]) -> Iterator[list[str]]:
    seen = set()
    for words in lines:
        group = words[0].rpartition(",")[0]
        if group not in seen and float(words[2].rstrip(" %")) >= 100 * POWER:
            seen.add(group)
            yield words


def change(setting: str) -> None:
    """Give a constant of the program another value: `assay.analyse.statistics.autocorrelation._ERRORS=2`."""
    where, _, value = setting.partition("=")
    module, _, constant = where.rpartition(".")
    found = import_module(module)
    if not hasattr(found, constant):
        sys.exit(f"{module} has no {constant}")
    setattr(found, constant, json.loads(value))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--studies", type=int, default=2000, help="of each cell, in whole chunks")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="cells whose name has this; several: any of them")
    parser.add_argument("--into", type=Path, help="where chunks are kept")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--set", action="append", default=[], help="MODULE.NAME=VALUE")
    parser.add_argument("--list", action="store_true", help="print the names of the cells")
    args = parser.parse_args()
    for setting in args.set:
        change(setting)
    wanted = {name: cell for name, cell in cells().items() if not args.only or any(w in name for w in args.only)}
    if args.list:
        print("\n".join(wanted))
        return
    known = read(args.into, args.seed, args.set) if args.into else {}
    done = simulate(wanted, known, args)
    if done:
        print("\n".join(table(wanted, known)))
    sys.exit(0 if done else AGAIN)


if __name__ == "__main__":
    main()
