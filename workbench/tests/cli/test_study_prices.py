"""Prices in studies: what a run would cost, budgets, and what a run keeps."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import run_tools
import yaml
from hypothesis import given
from hypothesis import strategies as st
from paths import REPOSITORY
from plan_tools import load, study, written
from priced import BOOK, DISKS, VOLUMES, book, prices
from run_tools import ASSAY, needs_engine

from assay.cli.money.plan_cost import cost_document, plan_cost, print_cost
from assay.cli.money.study_prices import current_book, find_prices, prices_of_targets
from assay.model.base import EXIT_INTERRUPTED, AssayError
from assay.model.money.amount import format_money
from assay.model.money.priced_designs import FrozenPrices
from assay.model.money.use import Use
from assay.model.study.study import study_schema
from assay.money.books.books import load_book
from assay.money.cost.stored_prices import design_cost, egress_cost, freeze, hour_of_all_running, hour_of_running
from assay.plan.estimate import estimate_study
from assay.plan.expand import expand
from assay.run.costs import meter as meters
from assay.run.costs.budget import Budget, cost_of_time, read_budget
from assay.run.costs.meter import Meter, spent_seconds
from assay.run.session import measured_seconds
from assay.store import Attempt, RunStore, heartbeat, list_runs

DESIGNS = {"disk": {"design": "nfs-volumes", "set": VOLUMES.set}}


def section(**changes: Any) -> dict[str, Any]:
    return {"book": BOOK, "designs": DESIGNS, **changes}


def test_a_study_with_prices_is_read_and_looked_up() -> None:
    found = study(prices=section(term="reserved-1y", use={"duty": "25%", "egress": "1TB"}))
    assert found.prices is not None
    assert (found.prices.term, found.prices.use.duty, found.prices.use.egress) == (
        "reserved-1y",
        Decimal("0.25"),
        10**12,
    )
    plain = study(prices=section())
    frozen, faults = find_prices(plain, Path("/"))
    assert faults == []
    assert frozen is not None
    # 0.119 an hour and 5,000 GB at 0.05, as in the paper's table.
    assert design_cost(frozen, "disk").month == Decimal("0.119") * Decimal("729.6") + 250
    assert {row.item for row in frozen.book.rows} == {"c4.large", "st1"}
    assert frozen.designs["disk"].usable == 5 * 10**12
    assert find_prices(study(), Path("/")) == (None, [])


def test_the_example_is_right_and_short() -> None:
    folder = REPOSITORY / "studies/cost-of-speed"
    loaded = load((folder / "study.yaml").read_text())
    assert loaded.study is not None, loaded.problems
    jsonschema.Draft202012Validator(study_schema()).validate(loaded.source.data)
    frozen, faults = find_prices(loaded.study, folder)
    assert faults == []
    assert frozen is not None
    assert list(frozen.designs) == list(loaded.study.targets)
    most = estimate_study(loaded.study, expand(loaded.study).cases).max_seconds
    assert most is not None
    assert most < 60


def test_books_and_designs_beside_the_study(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / f"workbench/src/assay/money/books/data/{BOOK}.yaml", tmp_path / "my.yaml")
    shutil.copy(REPOSITORY / "workbench/src/assay/money/cost/templates/nfs-volumes.yaml", tmp_path / "mine.yaml")
    designs = {"disk": {"design": "mine.yaml", "set": VOLUMES.set}}
    frozen, faults = find_prices(study(prices={"book": "my.yaml", "designs": designs}), tmp_path)
    assert faults == []
    assert frozen is not None
    assert frozen.designs["disk"].bill == prices(disk=VOLUMES).designs["disk"].bill


SET_PATH = ("prices", "designs", "disk", "set")


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"book": "none.yaml"}, ("prices", "book"), "no such file"),
        ({"designs": {"disk": {"design": "nothing"}}}, ("prices", "designs", "disk", "design"), "no design `nothing`"),
        (
            {"designs": {"disk": {"design": "nfs-volumes", "set": {"sise": 1}}}},
            ("prices", "designs", "disk", "set"),
            "no parameter `sise`",
        ),
        ({"use": {"duty": "50%", "egress": "1TB"}}, ("prices", "use", "egress"), "no price of transfer-out"),
        ({"term": "spot"}, ("prices", "term"), "spot"),
        ({"designs": {"disk": {"design": "nfs-volumes", "set": {"capacity": None}}}}, (*SET_PATH,), "(capacity=null)"),
        ({"book": "b" * 5000}, ("prices", "book"), "file name too long"),
        ({"book": "./" + "b" * 5000}, ("prices", "book"), "file name too long"),
        ({"designs": {"disk": {"design": "d" * 5000}}}, ("prices", "designs", "disk", "design"), "file name too long"),
    ],
)
def test_what_cannot_be_looked_up_is_named_at_its_place(
    changes: dict[str, Any], path: tuple[str, ...], words: str
) -> None:
    frozen, (fault,) = find_prices(study(prices=section(**changes)), Path("/"))
    assert frozen is None
    assert fault.path == path
    assert words in fault.message
    assert len(fault.message) < 200
    assert fault.hint


def test_a_payment_and_a_way_that_have_no_price_are_at_fault_themselves(tmp_path: Path) -> None:
    reserved = {"term": "reserved-1y", "payment": "all-upfront", "upfront": "500", "price": "0"}
    rows = [*(row.model_dump() for row in book().rows), {**book().rows[0].model_dump(), **reserved}]
    rows.append({"dimension": "transfer-out", "item": "internet", "price": "0.09", "unit": "GB", "source": "a test"})
    write_book(tmp_path / "book.yaml", "1", rows=rows)
    plain = {"book": "book.yaml", "designs": DESIGNS, "term": "reserved-1y"}
    for change, path in (
        ({"payment": "no-upfront"}, ("prices", "payment")),
        ({"use": {"egress": "1TB", "egress_way": "pigeons"}}, ("prices", "use", "egress_way")),
    ):
        _, (fault,) = find_prices(study(prices={**plain, **change}), tmp_path)
        assert fault.path == path
    assert find_prices(study(prices=plain), tmp_path)[1] == []


def test_a_target_that_nothing_uses_is_not_paid_for() -> None:
    priced = study(
        targets={"disk": {"kind": "file", "path": "/a"}, "idle": {"kind": "file", "path": "/b"}},
        w_targets=["disk"],
        prices=section(designs={**DESIGNS, "idle": DESIGNS["disk"]}),
    )
    frozen, (fault,) = find_prices(priced, Path("/"), {"disk"})
    assert frozen is None
    assert fault.path == ("prices", "designs", "idle")
    both, faults = find_prices(priced, Path("/"), {"disk", "idle"})
    assert faults == []
    one = prices_of_targets(both, {"disk"})
    assert both is not None
    assert one is not None
    assert alike(hour_of_all_running(both), 2 * hour_of_all_running(one))


def test_a_payment_needs_a_reservation() -> None:
    (problem,) = load(written(prices=section(payment="all-upfront"))).problems
    assert "payment" in problem.message


def test_frozen_prices_survive_being_stored() -> None:
    frozen = prices(Use(duty=Decimal("0.3"), job_hours=Decimal("1.5")))
    assert FrozenPrices.model_validate_json(frozen.model_dump_json()) == frozen


def test_an_hour_of_a_run_has_no_use_in_it_and_is_switched_on() -> None:
    egress = {"dimension": "transfer-out", "item": "internet", "price": "0.09", "unit": "GB", "source": "a test"}
    rows = [*(row.model_dump() for row in book().rows), egress]
    plain = prices(book=book(), disk=VOLUMES)
    used = prices(Use(duty=Decimal("0.1"), egress=10**13), book=book(rows=rows), disk=VOLUMES)
    assert design_cost(used, "disk").month == Decimal(73 + 250 + 900)
    assert hour_of_running(plain, "disk") == hour_of_running(used, "disk")
    assert format_money(hour_of_running(plain, "disk")) == "1.34"
    both = prices()
    assert alike(hour_of_all_running(both), hour_of_running(both, "disk") + hour_of_running(both, "memory"))


def alike(first: Decimal, second: Decimal) -> bool:
    """Equal but for the 28 digits that Python's operators keep."""
    return abs(first - second) < Decimal("1e-20")


def cost_of(frozen: FrozenPrices, **changes: Any) -> Any:
    found = study(**changes)
    return plan_cost(found, estimate_study(found, expand(found).cases), frozen)


def test_the_cost_of_a_plan_is_its_hours_times_the_hourly_costs() -> None:
    found = study(w_runtime="10s", repeats={"within": "5%", "max": 30})
    estimate = estimate_study(found, expand(found).cases)
    frozen = prices(disk=VOLUMES, memory=DISKS)
    cost = plan_cost(found, estimate, frozen)
    hour = hour_of_running(frozen, "disk")
    assert cost.designs["disk"].about == cost_of_time(estimate.seconds, hour)
    assert cost.designs["disk"].least == cost_of_time(estimate.min_seconds, hour)
    assert estimate.max_seconds is not None
    hours = Decimal(repr(estimate.max_seconds)) / 3600
    assert alike(cost.total.at_most, hours * (hour + hour_of_running(frozen, "memory")))
    assert cost.total.least < cost.total.about


def test_rented_hosts_are_paid_for_beside_the_designs(capsys: pytest.CaptureFixture[str]) -> None:
    rented = study(prices=section(hosts={"c4.large": 3}))
    frozen, faults = find_prices(rented, Path("/"))
    assert frozen is not None and faults == []
    estimate = estimate_study(rented, expand(rented).cases)
    found = plan_cost(rented, estimate, frozen)
    assert found.hosts is not None
    assert found.hosts.about == cost_of_time(estimate.seconds, 3 * Decimal("0.119"))
    assert alike(found.total.about, found.designs["disk"].about + found.hosts.about)
    assert alike(hour_of_all_running(frozen), hour_of_running(frozen, "disk") + 3 * Decimal("0.119"))
    assert FrozenPrices.model_validate_json(frozen.model_dump_json()) == frozen
    print_cost(found, None)
    assert "3 x c4.large" in capsys.readouterr().out
    assert Decimal(cost_document(found, None)["hosts"]["hour"]) == Decimal("0.357")
    unknown = find_prices(study(prices=section(hosts={"x9.none": 1})), Path("/"))[1]
    assert [fault.path for fault in unknown] == [("prices", "hosts", "x9.none")]


def test_a_rented_network_is_paid_for_as_the_hosts_are(tmp_path: Path) -> None:
    """A book without the prices refuses each part at its place."""
    rows = [row.model_dump() for row in book().rows]
    network = {"nat-gateway": 1, "public-ipv4": 4}
    rows.append({"dimension": "gateway", "item": "nat-gateway", "price": "0.05", "unit": "hour", "source": "a test"})
    write_book(tmp_path / "book.yaml", "1", rows=rows)
    priced = {"book": "book.yaml", "designs": DESIGNS, "hosts": {"c4.large": 3}}
    lacking = find_prices(study(prices={**priced, "network": network}), tmp_path)[1]
    assert [fault.path for fault in lacking] == [("prices", "network", "public-ipv4")]
    rows.append({"dimension": "address", "item": "public-ipv4", "price": "0.01", "unit": "hour", "source": "a test"})
    write_book(tmp_path / "book.yaml", "1", rows=rows)
    plain, _ = find_prices(study(prices=priced), tmp_path)
    whole, faults = find_prices(study(prices={**priced, "network": network}), tmp_path)
    assert plain is not None and whole is not None and faults == []
    assert alike(hour_of_all_running(whole), hour_of_all_running(plain) + Decimal("0.09"))
    (problem,) = load(written(prices=section(network={"nat-gatway": 1}))).problems
    assert "unknown `nat-gatway`" in problem.message and "nat-gateway" in problem.hint


def test_a_schedule_is_paid_for_whole() -> None:
    frozen = prices(disk=VOLUMES)
    cost = cost_of(frozen, schedule={"repeats": 3, "over": "24h"})
    assert cost.total.least == cost.total.about
    assert alike(cost.total.about, 24 * hour_of_running(frozen, "disk"))
    assert cost.total.at_most is None


@pytest.mark.parametrize(("factor", "fits"), [("0.9", "no"), ("1.1", "perhaps"), ("32", "expected"), ("10000", "yes")])
def test_whether_a_budget_fits(factor: str, fits: str) -> None:
    found = {"w_time_limit": "1h", "repeats": {"within": "5%", "max": 240, "min": 8}}
    cost = cost_of(prices(disk=VOLUMES), **found)
    budget = Budget(cost.total.least * Decimal(factor), "USD")
    if fits == "yes":
        budget = Budget(cost.total.at_most, "USD")
    assert cost.fits(budget) == fits


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "`` is not a budget"),
        ("5", "not a budget"),
        ("five USD", "not a budget"),
        ("-5USD", "not a budget"),
        ("5usd", "not a budget"),
        ("5EUR", "the budget is in EUR, the prices of aws-eu-west-1-2016 in USD"),
    ],
)
def test_bad_budgets_are_one_line(text: str, words: str) -> None:
    with pytest.raises(AssayError, match=words) as error:
        read_budget(text, prices())
    assert error.value.exit_code == 2
    assert error.value.hint


def test_budgets() -> None:
    assert read_budget(None, None) is None
    assert read_budget("5.50 USD", prices()) == Budget(Decimal("5.50"), "USD")
    with pytest.raises(AssayError, match="names none"):
        read_budget("5USD", None)


@given(st.lists(st.floats(1, 1e5), min_size=1, max_size=20), st.integers(0, 10**6), st.integers(1, 1000))
def test_a_meter_never_lets_a_budget_be_exceeded(jobs: list[float], cents: int, hourly: int) -> None:
    """If each job takes as long as estimated."""
    clock = [0.0]
    budget = Budget(Decimal(cents) / 100, "USD")
    meter = Meter(budget, Decimal(hourly), earlier_s=0.0, begun=0.0, now=lambda: clock[0])
    for seconds in jobs:
        if not meter.allows_repeat(seconds):
            assert cost_of_time(clock[0] + seconds, Decimal(hourly)) > budget.amount
            assert "budget of" in meter.stop_reason
            break
        clock[0] += seconds
    assert cost_of_time(clock[0], Decimal(hourly)) <= budget.amount


def attempt(number: int, at: float, seconds: float | None) -> Attempt:
    return Attempt(number, "c0001", number, at, seconds, "ok", "")


def test_time_between_sessions_is_not_spent_and_lost_repeats_count_as_estimated() -> None:
    tries = [attempt(1, 110, 5.0), attempt(2, 120, None), attempt(3, 1000, 7.0)]
    assert spent_seconds([100.0, 990.0], tries, {"c0001": 30.0}) == (150 - 100) + (1007 - 990)
    # What was lost cannot have lasted longer than until the next session.
    assert spent_seconds([100.0, 125.0], tries[:2], {"c0001": 30.0}) == 25
    assert spent_seconds([100.0], [], {}) == 0


def test_sessions_last_until_their_last_sign_of_life() -> None:
    """Also if it came outside a repeat, and then lost repeats need no estimate."""
    tries = [attempt(1, 110, 5.0), attempt(2, 120, None)]
    estimates = {"c0001": 30.0}
    assert spent_seconds([100.0], [], estimates, [109.0]) == 9
    assert spent_seconds([100.0], tries, estimates, [121.0]) == 21
    assert spent_seconds([100.0], tries, estimates, [400.0]) == 300
    # Of the first of these sessions nobody knows.
    assert spent_seconds([100.0, 1000.0], tries, estimates, [1014.0]) == 50 + 14
    assert spent_seconds([100.0, 1000.0], tries, estimates, [121.0, 1014.0]) == 21 + 14


def test_a_heartbeat_goes_on_between_steps_and_over_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "BEAT_INTERVAL_SECONDS", 0.01)
    assert heartbeat.last_alive(tmp_path) == ()
    begun = time.time()
    with heartbeat.Heartbeat(tmp_path):
        seen = set()
        while len(seen) < 3 and time.time() < begun + 600:
            seen.update(heartbeat.last_alive(tmp_path))
    assert len(seen) == 3
    (first,) = heartbeat.last_alive(tmp_path)
    with pytest.raises(ZeroDivisionError), heartbeat.Heartbeat(tmp_path):
        raise ZeroDivisionError
    again, second = heartbeat.last_alive(tmp_path)
    assert begun <= first == again <= second <= time.time()
    assert [path.name for path in tmp_path.iterdir()] == [heartbeat.HEARTBEAT]
    for damaged in ("", "[1, 2", "{}", "7", '["x"]', "[NaN]"):
        (tmp_path / heartbeat.HEARTBEAT).write_text(damaged)
        assert heartbeat.last_alive(tmp_path) == ()


STUDY = """
study: priced
question: What does it cost?
targets:
  none: {kind: "null"}
workloads:
  w: {operations: [write], file_size: 64KiB, record_size: [4KiB, 8KiB]}
repeats: 3
ceilings: none
prices:
  book: book.yaml
  designs:
    none: {design: nfs-volumes, set: {instance: c4.large, volume: st1, capacity: 5TB}}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a study and its book of huge prices."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY)
    write_book(tmp_path / "book.yaml", "1000000")
    return tmp_path


def write_book(path: Path, price: str, **changes: Any) -> None:
    path.write_text(yaml.safe_dump(json.loads(book(price, **changes).model_dump_json(exclude_defaults=True))))


def assay(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    return run_tools.assay(Path.cwd(), *words, expect=code)


def test_plan_prints_the_cost_and_whether_it_fits(place: Path) -> None:
    text = assay("plan", "study.yaml", "--budget", "1USD").stdout
    assert "USD/hour" in text
    assert "not included: data transfer" in text
    assert "budget: 1.00 USD is too little" in text
    document = json.loads(assay("plan", "study.yaml", "--json", "--budget", "1USD").stdout)
    assert document["cost"]["budget"] == {"amount": "1", "fits": "no"}
    assert document["cost"]["designs"]["none"]["hour"] == "1000000.342466"
    seconds = document["estimate"]["seconds"]
    assert float(document["cost"]["total"]["expected"]) == pytest.approx(seconds / 3600 * 1000000.342466, rel=1e-6)
    error = assay("plan", "study.yaml", "--budget", "1EUR", code=2).stderr
    assert "EUR" in error
    assert "`` is not a budget" in assay("plan", "study.yaml", "--budget", "", code=2).stderr
    assert "`` is not a budget" in assay("run", "study.yaml", "--budget", "", code=2).stderr


def test_check_warns_of_old_books(place: Path) -> None:
    write_book(place / "book.yaml", "1", date="2020-01-01")
    done = assay("check", "study.yaml")
    assert "WARNING: 2 of 2 prices from made-up are older" in done.stderr
    write_book(place / "book.yaml", "1", date="2020-01-01", historic=True)
    assert "WARNING" not in assay("check", "study.yaml").stderr


@needs_engine
def test_a_budget_stops_a_run_and_more_money_goes_on(place: Path) -> None:
    done = assay("run", "study.yaml", "--budget", "0.01USD", code=EXIT_INTERRUPTED)
    assert "stopped by the budget of 0.0100 USD" in done.stderr
    (run,) = list_runs(place / "assay-runs")
    with RunStore.open(Path(run.folder)) as store:
        assert store.info().status == "interrupted"
        assert store.attempts() == []
    assert "--resume --budget 0.01USD" in done.stderr
    assay("run", "--resume", "--budget", "0.01EUR", code=2)
    assay("run", "--resume", "--budget", "", code=2)
    kept = assay("run", "--resume", code=EXIT_INTERRUPTED)
    assert "the budget of 0.0100 USD still applies" in kept.stderr
    assay("run", "--resume", "--budget", "0.02USD", code=EXIT_INTERRUPTED)
    with RunStore.open(Path(run.folder)) as store:
        assert store.budget() == "0.02USD"
    assay("run", "--resume", "--budget", "100000000USD")
    with RunStore.open(Path(run.folder)) as store:
        assert store.outcome_counts() == {"ok": 6}
        assert len(store.sessions()) == 4
        assert len(store.last_alive()) == 4


@needs_engine
def test_a_session_that_is_killed_while_it_waits_is_counted(place: Path) -> None:
    (place / "study.yaml").write_text(
        STUDY.replace("repeats: 3", "schedule: {repeats: 3, over: 1h, order: sequential}")
    )
    words = [ASSAY, "run", "study.yaml"]
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert run.stderr is not None
        assert any("is due at" in line for line in run.stderr)
        (found,) = list_runs(place / "assay-runs")
        with RunStore.open(Path(found.folder)) as store:
            begun = time.time()
            while max(store.last_alive()) < begun + 1 and time.time() < begun + 600:
                time.sleep(0.05)
    finally:
        run.send_signal(signal.SIGKILL)
        run.communicate()
    with RunStore.open(Path(found.folder)) as store:
        last = max(each.started_at + (each.seconds or 0) for each in store.attempts())
        spent = spent_seconds(store.sessions(), store.attempts(), {}, store.last_alive())
        assert spent >= begun + 1 - store.sessions()[0]
        assert spent > last - store.sessions()[0]


class Clock:
    """A budget's clock, put forward by hand; a book at 100 USD an hour."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.hours = 0.0
        begin = meters.now()
        monkeypatch.setattr(meters, "now", lambda: begin + 3600.0 * self.hours)
        write_book(place / "book.yaml", "100")


@needs_engine
def test_a_run_stops_between_repeats(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each repeat takes an hour more than it should; the budget pays for 2.5 hours."""
    clock = Clock(place, monkeypatch)
    finish = RunStore.finish_repeat

    def later(*words: Any) -> None:
        finish(*words)
        clock.hours += 1

    monkeypatch.setattr(RunStore, "finish_repeat", later)
    done = assay("run", "study.yaml", "--budget", "250USD", code=EXIT_INTERRUPTED)
    assert "the next repeat would take" in done.stderr
    (run,) = list_runs(place / "assay-runs")
    with RunStore.open(Path(run.folder)) as store:
        assert store.outcome_counts() == {"ok": 3}
        assert len(store.pending()) == 3


@needs_engine
def test_a_repeat_that_takes_too_long_is_stopped_and_done_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(place, monkeypatch)
    (place / "study.yaml").write_text(STUDY.replace("record_size: [4KiB, 8KiB]", "record_size: 4KiB, runtime: 30s"))
    begin = RunStore.begin_attempt

    def later(*words: Any) -> int:
        clock.hours = 3
        return begin(*words)

    heard: list[str] = []
    abandon = RunStore.abandon_attempt

    def listening(store: RunStore, attempt: int, seconds: float, reason: str, events: str = "") -> None:
        heard.extend(events.splitlines())
        abandon(store, attempt, seconds, reason, events)

    monkeypatch.setattr(RunStore, "begin_attempt", later)
    monkeypatch.setattr(RunStore, "abandon_attempt", listening)
    done = assay("run", "study.yaml", "--budget", "250USD", code=EXIT_INTERRUPTED)
    assert "took longer than estimated" in done.stderr
    (run,) = list_runs(place / "assay-runs")
    with RunStore.open(Path(run.folder)) as store:
        (tried,) = store.attempts()
        assert tried.reason == "stopped by the budget"
        assert tried.seconds is not None
        ends = [event for event in map(json.loads, heard) if event["event"] == "phase_end"]
        assert [(end["operation"], end["status"]) for end in ends] == [("write", "stopped")]
        assert len(store.pending()) == 3
        # What it took at least is what the next session reckons with.
        assert measured_seconds(store) == {tried.case: tried.seconds}


@needs_engine
def test_nothing_is_written_without_prices_or_in_another_currency(place: Path) -> None:
    assay("run", "study.yaml", "--budget", "5EUR", code=2)
    (place / "plain.yaml").write_text(STUDY.split("prices:")[0])
    assay("run", "plain.yaml", "--budget", "5USD", code=2)
    (place / "book.yaml").unlink()
    assert "no such file" in assay("run", "study.yaml", code=2).stderr
    assert not (place / "assay-runs").exists()


def cost_part(page: Path) -> str:
    text = page.read_text()
    begin = text.index('<section id="cost">')
    return text[begin : text.index("</section>", begin)]


@needs_engine
def test_a_run_keeps_its_prices_whatever_becomes_of_the_book(place: Path) -> None:
    assay("run", "study.yaml")
    assay("report", "last", "--output", "before.html")
    write_book(place / "book.yaml", "2000000", date="2026-11-20")
    assay("report", "last", "--output", "changed.html")
    assay("report", "last", "--output", "today.html", "--prices", "today=book.yaml")
    (place / "book.yaml").unlink()
    assay("report", "last", "--output", "deleted.html")
    before = (place / "before.html").read_bytes()
    assert (place / "changed.html").read_bytes() == before
    assert (place / "deleted.html").read_bytes() == before
    old, both = cost_part(place / "before.html"), cost_part(place / "today.html")
    assert "730,000,250.00" in old
    assert "1,460,000,250.00" not in old
    for words in ("730,000,250.00", "1,460,000,250.00", "+730,000,000.00", "+100.0", "2026-11-01", "2026-11-20"):
        assert words in both
    # The rest of the report is that of the frozen prices.
    assert old.split("cost-measured")[1] == both.split("cost-measured")[1]


@needs_engine
def test_a_damaged_prices_file_is_one_line(place: Path) -> None:
    assay("run", "study.yaml")
    (run,) = list_runs(place / "assay-runs")
    kept = Path(run.folder) / "prices.json"
    whole = json.loads(kept.read_text())
    name = Path(run.folder).name

    def refusal() -> str:
        found = assay("report", "last", code=2).stderr
        assert found.startswith(f"error: run {name}")
        assert "prices.json" in found
        assert "FrozenPrices" not in found
        return found

    kept.write_text(kept.read_text()[:100])
    assert "damaged" in refusal()
    # The rest of the run can still be seen.
    assert "6 of 6 repeats done" in assay("show", "last").stdout
    assert json.loads(assay("show", "last", "--json").stdout)["prices"] is None
    for path, value, words in (
        (["schema_version"], 2, "made by a newer Assay (version 2"),
        (["schema_version"], ..., "made by a newer Assay"),
        (["schema_version"], "1", "damaged"),
        (["book", "rows", 0, "price"], "1e999999", "damaged"),
        (["book", "rows", 0, "price"], "1e-999999", "damaged"),
        (["book", "rows", 0, "item"], "c5.large", "no price of instance c4.large"),
        (["book", "rows"], [], "damaged: book.rows: "),
        (["book", "hours_per_month"], "0", "damaged"),
        (["designs", "none", "bill", "lines", 0, "each"], "1e400", "damaged"),
        (["designs", "none", "ceilings", 0, "value"], 0, "damaged"),
        (["designs"], 5, "damaged: designs: "),
    ):
        damaged = json.loads(json.dumps(whole))
        inner = damaged
        for part in path[:-1]:
            inner = inner[part]  # type: ignore[index]
        if value is ...:
            del inner[path[-1]]  # type: ignore[arg-type]
        else:
            inner[path[-1]] = value  # type: ignore[index]
        kept.write_text(json.dumps(damaged))
        assert words in refusal()
    for text in ("", "[]", "[" * 10**5, "\udcff"):
        kept.write_bytes(text.encode("utf-8", "surrogateescape"))
        refusal()
    kept.write_text(json.dumps(whole))
    assay("report", "last")
    kept.unlink()
    assert refusal().splitlines()[0] == f"error: run {name} is damaged: prices.json is missing"


@needs_engine
def test_a_run_without_a_budget_goes_on_without_its_prices(place: Path) -> None:
    assay("run", "study.yaml", "--budget", "0.01USD", code=EXIT_INTERRUPTED)
    (run,) = list_runs(place / "assay-runs")
    (Path(run.folder) / "prices.json").write_text("{")
    assert "damaged" in assay("run", "--resume", code=2).stderr
    with RunStore.open(Path(run.folder), write=True) as store:
        store._db.execute("UPDATE run SET details = json_remove(details, '$.budget')")
    assay("run", "--resume")


@needs_engine
def test_missing_prices_of_today_are_told(place: Path) -> None:
    assay("run", "study.yaml")
    assert "is not valid" in assay("report", "last", "--prices", "", code=2).stderr
    rows = [row.model_dump() for row in book().rows[1:]]
    write_book(place / "new.yaml", "1", rows=rows, date="2026-11-20")
    done = assay("report", "last", "--output", "today.html", "--prices", "today=new.yaml")
    assert "none has no cost at today's prices: the price book made-up has no price of instance c4.large" in done.stderr
    assert "2026-11-20" not in cost_part(place / "today.html")


def test_stopping_while_the_command_is_loaded_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    words = [sys.executable, "-c", "import sys; from assay.cli.main import main; sys.exit(main())"]
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path})
    assert (done.returncode, done.stdout, done.stderr) == (EXIT_INTERRUPTED, "", "")


def test_which_book_is_todays() -> None:
    frozen = prices()
    found = current_book(frozen, "today")
    assert (found.provider, found.region, found.historic) == ("aws", "eu-west-1", False)
    assert current_book(frozen, "today=aws-us-east-1").book == "aws-us-east-1"
    other = book(region="mars-1")
    with pytest.raises(AssayError, match="mars-1"):
        current_book(prices(book=other, disk=VOLUMES), "today")
    with pytest.raises(AssayError, match="is not valid"):
        current_book(frozen, "yesterday")
    with pytest.raises(AssayError, match="EUR and USD"):
        current_book(prices(book=book(currency="EUR"), disk=VOLUMES), "today")


def test_data_that_leave_a_cloud_cost_the_first_price_beyond_what_is_free() -> None:
    stored = freeze({}, load_book("aws-eu-west-1"), "on-demand", None, Use(), with_egress=True)
    # 100 GiB a month are free, the next cost 0.09 USD each.
    assert egress_cost(stored, 50 * 2**30) == Decimal("4.5") and egress_cost(stored, 0) == 0
    assert egress_cost(prices(), 2**30) is None
