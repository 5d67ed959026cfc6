"""Yes, no or not yet: what follows from intervals and verdicts, and nothing else."""

from builders import make_case, make_sample, row_of
from hypothesis import given
from hypothesis import strategies as st
from stored_runs import noisy

from assay.analyse.needs.answers import need_answers
from assay.analyse.needs.outcome import NeedStatus
from assay.model.result.result import ResultRow
from assay.model.result.tasks import TaskResult, TaskStates
from assay.model.result.verdict import LOWER_BOUND, NOT_STORAGE, Finding, Verdict
from assay.model.study.needs import TargetNeed

READ = TargetNeed(operation="read", measure="throughput", limit=500e6)


def row(
    middle: float, verdict: Verdict = Verdict.OK, count: int = 8, size: int = 4096, target: str = "disk"
) -> ResultRow:
    found = row_of(make_case(f"c{size}", target, axes={"record_size": size}), noisy(middle, count, 0.05, size))
    findings = () if verdict is Verdict.OK else (Finding(verdict=verdict, rule="r", text="", remedy="", numbers={}),)
    return found.model_copy(update={"verdict": verdict, "findings": findings})


@given(st.floats(100e6, 2500e6), st.sampled_from(list(Verdict)), st.integers(1, 12))
def test_an_answer_follows_from_interval_and_verdict(middle: float, verdict: Verdict, count: int) -> None:
    measured = row(middle, verdict, count)
    (answer,) = need_answers([READ], [measured])
    low, high = measured.throughput.low, measured.throughput.high  # type: ignore[union-attr]
    if answer.status is NeedStatus.YES:
        assert low is not None and low >= READ.limit and verdict not in NOT_STORAGE
        assert answer.margin >= 1
    elif answer.status is NeedStatus.NO:
        assert (
            high is not None
            and high < READ.limit
            and verdict not in {Verdict.IMPOSSIBLE, Verdict.CLIENT_BOUND, Verdict.CONTENDED}
        )
    else:
        assert answer.worst.outcome.why
    if verdict is Verdict.OK and low is not None and high is not None:
        assert (answer.status is NeedStatus.UNDECIDED) == (low < READ.limit <= high)


def test_the_worst_point_decides() -> None:
    good, bad, noisy_one = row(900e6, size=1), row(200e6, size=2), row(500e6, size=3)
    (answer,) = need_answers([READ], [good, bad, noisy_one])
    assert answer.status is NeedStatus.NO and answer.worst.row is bad
    (answer,) = need_answers([READ], [good, noisy_one])
    assert answer.status is NeedStatus.UNDECIDED and answer.worst.row is noisy_one
    (answer,) = need_answers([READ], [good, row(700e6, size=4)])
    assert answer.status is NeedStatus.YES and answer.worst.row.case.axes == {"record_size": 4}


def test_what_the_client_limited_can_say_yes_but_not_no() -> None:
    """What limits the place for everyone who uses it from here belongs to the place."""
    for verdict in LOWER_BOUND:
        assert need_answers([READ], [row(900e6, verdict)])[0].status is NeedStatus.YES
        slow = need_answers([READ], [row(100e6, verdict)])[0]
        is_client = verdict in (Verdict.CLIENT_BOUND, Verdict.CONTENDED)
        assert slow.status is (NeedStatus.UNDECIDED if is_client else NeedStatus.NO)
        assert str(verdict) in slow.worst.outcome.why


def test_a_device_that_others_use_fails_only_if_it_would_alone() -> None:
    measured = row(100e6, Verdict.CONTENDED)
    for factor, status in ((1.5, NeedStatus.NO), (8.0, NeedStatus.UNDECIDED)):
        finding = measured.findings[0].model_copy(update={"numbers": {"max_slowdown": factor}})
        shared = measured.model_copy(update={"findings": (finding,)})
        assert need_answers([READ], [shared])[0].status is status
        limited = finding.model_copy(update={"verdict": Verdict.THROTTLED})
        capped = measured.model_copy(update={"verdict": Verdict.THROTTLED, "findings": (limited, finding)})
        assert need_answers([READ], [capped])[0].status is NeedStatus.NO


def test_threads_that_end_at_different_times_make_a_rate_too_low_at_most() -> None:
    assert need_answers([READ], [row(900e6, Verdict.SKEWED)])[0].status is NeedStatus.YES
    slow = row(100e6, Verdict.SKEWED)
    for steady, status in ((120e6, NeedStatus.NO), (600e6, NeedStatus.UNDECIDED), (None, NeedStatus.UNDECIDED)):
        samples = tuple(each.model_copy(update={"steady": steady}) for each in slow.samples)
        answers = need_answers([READ], [slow.model_copy(update={"samples": samples})])
        assert answers[0].status is status


def test_each_target_answers_for_itself_and_what_was_not_measured_does_not() -> None:
    found = need_answers([READ], [row(900e6), row(100e6, target="nas")])
    assert [(one.target, one.status) for one in found] == [("disk", NeedStatus.YES), ("nas", NeedStatus.NO)]
    assert need_answers([READ.model_copy(update={"operation": "write"})], [row(900e6)]) == []
    latency = READ.model_copy(update={"measure": "p99", "limit": 1e6})
    assert need_answers([latency], [row(900e6)])[0].worst.outcome.why.startswith("too few operations")


SECOND = 10**9
TIME = TargetNeed(operation="", measure="time", limit=10 * SECOND, workload="grid")


def command(*seconds: float, others: float = 0.0, verdict: Verdict = Verdict.OK) -> ResultRow:
    """A command of one task that takes these times; other programs have so many seconds of CPU time meanwhile."""
    case = make_case("c1", operations=("run",), tasks=1)
    samples = []
    for repeat, wall in enumerate(seconds, start=1):
        task = TaskResult(task="1", lane=0, started_ns=0, elapsed_ns=round(wall * SECOND), user_ns=SECOND)
        busy = {"cpu_user_ns": 0, "cpu_system_ns": 0, "host_busy_ns": SECOND + round(others * SECOND)}
        fields = {"elapsed_ns": round(wall * SECOND), "ops": 1, "tasks": (task,), **busy}
        samples.append(make_sample("c1", repeat, operation="run", **fields))
    return row_of(case, [1.0] * len(seconds), verdict, operation="run").model_copy(update={"samples": tuple(samples)})


def test_a_command_is_quick_enough_if_its_interval_is() -> None:
    for seconds, status in (((9.0, 9.1, 9.05), NeedStatus.YES), ((9.0, 11.0, 10.0), NeedStatus.UNDECIDED)):
        assert need_answers([TIME], [command(*seconds)])[0].status is status
    (answer,) = need_answers([TIME], [command(12.0, 12.1, 12.05)])
    assert answer.status is NeedStatus.NO and answer.worst.outcome.value == 12.05 * SECOND
    assert need_answers([TIME], [command(9.0)])[0].worst.outcome.why == "one repeat has no interval"


def test_other_programs_may_be_why_a_command_took_too_long() -> None:
    for others, status in ((1.0, NeedStatus.NO), (4.0, NeedStatus.UNDECIDED)):
        (answer,) = need_answers([TIME], [command(12.0, 12.1, 12.05, others=others)])
        assert answer.status is status
    assert "other programs" in answer.worst.outcome.why
    # They cannot have made it quicker.
    assert need_answers([TIME], [command(9.0, 9.1, 9.05, others=9.0)])[0].status is NeedStatus.YES


def test_the_wall_clock_ends_with_the_last_task_however_uneven_they_are() -> None:
    assert need_answers([TIME], [command(12.0, 12.1, 12.05, verdict=Verdict.SKEWED)])[0].status is NeedStatus.NO
    assert need_answers([TIME], [command(9.0, 9.1, 9.05, verdict=Verdict.INCOMPLETE)])[0].status is NeedStatus.UNDECIDED


def test_others_delay_only_what_wants_a_cpu() -> None:
    """A task that slept or waited for storage was held up by no other program, however busy these were."""
    slow = command(12.0, 12.1, 12.05, others=12.0)
    for running, status in ((0.0, NeedStatus.NO), (0.9, NeedStatus.UNDECIDED)):
        states = TaskStates(
            looks=1000, running_ns=round(running * SECOND), storage_ns=SECOND - round(running * SECOND), network_ns=0,
            other_ns=0,
        )  # fmt: skip
        samples = tuple(
            sample.model_copy(update={"tasks": (sample.tasks[0].model_copy(update={"states": states}),)})
            for sample in slow.samples
        )
        assert need_answers([TIME], [slow.model_copy(update={"samples": samples})])[0].status is status
