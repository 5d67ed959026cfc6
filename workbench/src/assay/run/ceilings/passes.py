"""Measures the ceilings of devices again during a run and at its end, since devices vary over time."""

import time
from collections.abc import Callable, Iterable
from functools import partial

from assay.analyse.ceilings import merge_ceilings
from assay.analyse.exceeded import Key
from assay.model.base import AssayError, warning
from assay.model.result.ceiling import Ceiling, When
from assay.plan.ceiling_times import PASS_SECONDS, interval_seconds
from assay.run.analysis import exceeded_ceilings
from assay.run.ceilings.meter import CeilingMeter
from assay.store import RunStore


class CeilingPasses:
    """Decides when the ceilings of devices are measured again, measures them, and stores each pass as it ends."""

    def __init__(
        self,
        meter: CeilingMeter,
        store: RunStore,
        run_seconds: float,
        affords: Callable[[float], bool] = lambda _: True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Continue from what the run has stored.

        Args:
            meter: Measures ceilings.
            store: The run, open for writing, with the ceilings that were measured before the cases.
            run_seconds: Estimated length of the whole run.
            affords: Whether the budget of the run pays for this many more seconds.
            clock: Returns seconds since 1970.
        """
        self.meter = meter
        self.store = store
        self.run_seconds = run_seconds
        self.affords = affords
        self.clock = clock
        passes = [item for ceiling in store.info().ceilings for item in ceiling.passes]
        last = max(passes, key=lambda item: item.at, default=None)
        self._ended = last.at if last is not None else 0.0
        self._open = last is None or last.when in ("before", "between")
        """Whether repeats may have been executed since the last pass."""
        self._seconds = PASS_SECONDS * len(meter.devices)
        """Length of the last pass."""
        self._round = 0

    def before_repeat(self, repeat: int) -> None:
        """Make a pass before a repeat if one is due, preferably between two rounds.

        Args:
            repeat: Number of the repeat that comes next.
        """
        new_round, self._round = repeat != self._round, repeat
        waited = self.clock() - self._ended
        interval_s = interval_seconds(self.run_seconds, self._seconds)
        if waited >= (interval_s if new_round else 2 * interval_s):
            self._pass("between")
        self._open = True

    def finish(self) -> None:
        """Make a last pass after the last repeat, and remeasure the ceilings that results of the run have exceeded."""
        if not self._open or not self.store.info().ceilings:
            return
        self._pass("after")
        found = exceeded_ceilings(self.store, self.store.info())
        if found and self.affords(self._seconds) and not self.meter.stop():
            self.meter.say(f"ceilings measured again, because results exceeded them: {_ceiling_names(found)}")
            self._measure(lambda: self.meter.measure_again(found))

    def _pass(self, when: When) -> None:
        devices = self.meter.devices
        if not devices or self.meter.stop() or not self.affords(self._seconds):
            return
        begun = self.clock()
        for name in devices:
            self._measure(partial(self.meter.measure_target, name, when))
        self._ended = self.clock()
        self._seconds = max(0.0, self._ended - begun)

    def _measure(self, measure: Callable[[], Iterable[Ceiling]]) -> None:
        """Measure and store; an error is reported, and the run goes on."""
        try:
            found = measure()
        except AssayError as error:
            self.meter.say(warning(f"ceilings could not be measured again: {error.message}"))
            return
        self.store.describe(ceilings=merge_ceilings(self.store.info().ceilings, found))


def _ceiling_names(found: Iterable[Key]) -> str:
    """Return text such as `device read of disk; page cache read of memory`."""
    names: dict[str, list[str]] = {}
    for target, name, _ in found:
        names.setdefault(target or "this machine", []).append(name)
    return "; ".join(f"{', '.join(dict.fromkeys(several))} of {target}" for target, several in names.items())
