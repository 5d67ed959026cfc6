"""Hosts of a stack that end during a run: noticed once, not counted as failures of the storage, and replaced."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from builders import make_case, make_meta

from assay.model.base import EXIT_REFUSED, AssayError, WarningLine
from assay.model.result.environment import INSTANCES
from assay.model.result.host_loss import HostLoss
from assay.model.study.study import Study
from assay.plan.load import load_study
from assay.run import lost_hosts
from assay.run.context import RunContext
from assay.run.fleet import Fleet
from assay.run.prepare import _compare_environment
from assay.run.study_plan import Plan
from assay.site.inventory.site import InventorySite
from assay.site.site import SiteState
from assay.store import RunStore
from assay.store.entries import INVENTORY

SPOT = "Server.SpotInstanceTermination"
STUDY = """study: s
question: Does it hold?
hosts: {hosts}
targets:
  disk: {{kind: nfs, servers: [10.0.0.9], export: /export}}
workloads:
  w: {{operations: [read], file_size: 1MiB, record_size: 4KiB, hosts: 2}}
"""


def instance(number: int, role: str = "client", code: str = "", grouped: bool = True) -> dict[str, Any]:
    tags = {"assay:role": role, **({"aws:autoscaling:groupName": "g"} if grouped else {})}
    return {
        "InstanceId": f"i-{number}",
        "LaunchTime": f"2026-11-30 10:00:0{number}",
        "PrivateIpAddress": f"10.0.0.{number}",
        "State": {"Name": "terminated" if code else "running"},
        "StateReason": {"Code": code},
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }


class Stack:
    """What AWS says of a stack; set `instances` to change it, or `error` to let it refuse."""

    def __init__(self) -> None:
        self.instances = [instance(1), instance(2), instance(3), instance(9, "storage", grouped=False)]
        self.error: AssayError | None = None
        self.queries = 0

    def document(self, name: str, region: str = "") -> bytes:
        assert (name, region) == ("lab1", "")
        self.queries += 1
        if self.error is not None:
            raise self.error
        stack = {"StackName": name, "StackStatus": "CREATE_COMPLETE"}
        return json.dumps({"Stacks": [stack], "Reservations": [{"Instances": self.instances}]}).encode()

    def end(self, number: int, code: str = SPOT, **fields: Any) -> None:
        self.instances = [item for item in self.instances if item["InstanceId"] != f"i-{number}"]
        self.instances.append(instance(number, code=code, **fields))


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Stack:
    found = Stack()
    monkeypatch.setattr("assay.rooms.deploy.work.stack_hosts.stack_document", found.document)
    return found


class Run:
    """A run on three clients of a stack, of which its case uses the first two."""

    def __init__(self, folder: Path, hosts: str) -> None:
        text = STUDY.format(hosts=hosts)
        loaded = load_study(text.encode(), folder)
        assert loaded.study is not None, loaded.problems
        self.study: Study = loaded.study
        self.case = make_case(hosts=2)
        command = make_meta(command="assay run s.yaml --on lab1")
        self.store = RunStore.create(folder / "runs", command, (self.case,), (), [(self.case.id, 1)], text)
        for name, read in InventorySite(self.study.hosts, folder).files.items():
            (self.store.folder / name).write_bytes(read())
        self.plan = Plan(self.study, text, loaded.source, folder / "s.yaml", (self.case,), ())
        self.lines: list[str] = []
        state = InventorySite(self.study.hosts, self.store.folder, is_run_folder=True).up(self.lines.append)
        fleet = Fleet(state.clients, (), SiteState(state.clients, other_hosts=state.other_hosts))
        about = {"plan": self.plan, "store": self.store, "fleet": fleet, "print_line": self.lines.append}
        more = {"losses": (), "meter": None, "stop_level": lambda: 0}
        self.context = cast("RunContext", SimpleNamespace(**about, **more))

    def find(self) -> tuple[HostLoss, ...]:
        self.context.losses = lost_hosts.find_losses(self.context, self.case, 1)
        return self.context.losses

    def take(self) -> None:
        lost_hosts.take_replacements(self.plan, self.store, self.lines.append)

    def addresses(self) -> dict[str, str]:
        hosts = InventorySite(self.study.hosts, self.store.folder, is_run_folder=True).inventory().hosts
        return {name: host.address for name, host in hosts.items()}


@pytest.fixture
def run(tmp_path: Path, stack: Stack) -> Iterator[Run]:
    found = Run(tmp_path, "{stack: lab1}")
    stack.queries = 0
    with found.store:
        yield found


def test_a_client_that_aws_took_back_is_one_line_and_is_stored(run: Run, stack: Stack) -> None:
    stack.end(1)
    (loss,) = run.find()
    assert (loss.host, loss.instance, loss.code, loss.is_server, loss.is_in_group) == (
        "client1",
        "i-1",
        SPOT,
        False,
        True,
    )
    (line,) = run.lines
    assert isinstance(line, WarningLine)
    assert "AWS took back the spot instance client1 (i-1)" in line and "repeat 1 of " in line and " UTC" in line
    assert run.store.info().host_losses == (loss,)
    assert stack.queries == 1


def test_an_instance_that_somebody_stopped_was_not_taken_back(run: Run, stack: Stack) -> None:
    stack.end(2, "Client.UserInitiatedShutdown")
    (loss,) = run.find()
    assert not loss.is_interruption and "client2 (i-2) is terminated" in run.lines[0]


def test_an_instance_that_ec2_has_forgotten_is_lost_without_a_reason(run: Run, stack: Stack) -> None:
    del stack.instances[0]
    (loss,) = run.find()
    assert (loss.host, loss.state, loss.code) == ("client1", "terminated", "")


def test_hosts_that_live_or_took_no_part_are_not_lost(run: Run, stack: Stack) -> None:
    stack.end(3)
    assert run.find() == () and run.lines == [] and run.store.info().host_losses == ()


def test_a_cloud_that_does_not_answer_leaves_the_failure_as_it_is(run: Run, stack: Stack) -> None:
    stack.error = AssayError("the credentials have expired")
    assert run.find() == ()
    assert run.lines == ["warning: whether AWS has ended a host is unknown: the credentials have expired"]


def test_only_a_stack_is_queried(tmp_path: Path, stack: Stack) -> None:
    (tmp_path / "hosts.yaml").write_text("hosts: {client1: {instance: i-1}, client2: {}}")
    for number, hosts in enumerate(("client[1-2]", "{inventory: hosts.yaml}")):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "hosts.yaml").write_text((tmp_path / "hosts.yaml").read_text())
        other = Run(tmp_path / str(number), hosts)
        with other.store:
            other.take()
            assert other.find() == () and other.lines == []
    assert stack.queries == 0


def test_a_run_cannot_go_on_without_its_server_or_a_group(run: Run, stack: Stack) -> None:
    stack.end(9, role="storage")
    run.find()
    assert run.context.losses[0].is_server and run.store.info().lost_server == run.context.losses[0]
    assert not lost_hosts.wait_for_replacements(run.context)
    assert "storage1 had the data under test: this run cannot go on" in run.lines[-1]
    stack.instances[-1] = instance(9, "storage")
    stack.end(1, grouped=False)
    run.find()
    assert not lost_hosts.wait_for_replacements(run.context)
    assert run.lines[-1] == "nothing starts another instance in place of client1"


def test_a_run_waits_until_another_instance_is_there_and_set_up(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = iter(["it is still setting itself up", ""])
    monkeypatch.setattr(lost_hosts, "_unready_reason", lambda _: next(reasons))
    steps = iter([lambda: stack.instances.append(instance(4)), lambda: None])
    monkeypatch.setattr(lost_hosts, "_pause", lambda _context, _seconds: next(steps)() is None)
    stack.end(1)
    run.find()
    del run.lines[:]
    assert lost_hosts.wait_for_replacements(run.context)
    assert run.lines[1:3] == ["no other instance is in place of client1 yet", "it is still setting itself up"]
    assert run.addresses()["client1"] == "10.0.0.4" and run.addresses()["client2"] == "10.0.0.2"
    assert run.store.info().host_losses[0].replaced_by == "i-4"


def test_the_wait_ends_with_its_time_or_the_user(run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lost_hosts._pause(run.context, 0.01)
    for name, value in (("stop_level", lambda: 1), ("meter", SimpleNamespace(is_used_up=lambda: True))):
        with monkeypatch.context() as patch:
            patch.setattr(run.context, name, value)
            assert not lost_hosts._pause(run.context, 0.01)
    stack.end(1)
    run.find()
    monkeypatch.setattr(lost_hosts, "REPLACEMENT_SECONDS", 0.0)
    assert not lost_hosts.wait_for_replacements(run.context)


def test_a_resumed_run_takes_the_instances_that_are_there_now(run: Run, stack: Stack) -> None:
    stack.end(1)
    run.find()
    stack.instances.append(instance(4))
    run.take()
    assert run.addresses() == {
        "client1": "10.0.0.4",
        "client2": "10.0.0.2",
        "client3": "10.0.0.3",
        "storage1": "10.0.0.9",
    }
    assert run.store.info().host_losses[0].sentence.endswith("client1 is i-4 since then")
    before = (run.store.folder / INVENTORY).read_bytes()
    run.take()
    assert (run.store.folder / INVENTORY).read_bytes() == before


def test_a_resumed_run_without_enough_hosts_is_refused_with_the_command(run: Run, stack: Stack) -> None:
    before = run.addresses()
    stack.end(1)
    with pytest.raises(AssayError) as error:
        run.take()
    assert error.value.message == "no other instance of stack lab1 is in place of client1 (i-1)"
    assert error.value.hint.endswith(f"assay run {run.store.folder} --resume")
    assert error.value.exit_code == EXIT_REFUSED
    stack.end(9, role="storage")
    with pytest.raises(AssayError, match=r"storage1 \(i-9\) of stack lab1 is gone with the data") as error:
        run.take()
    assert error.value.hint == "measure on another stack: assay run s.yaml --on lab1"
    assert run.addresses() == before


def test_a_resumed_run_goes_on_as_it_was_if_the_cloud_does_not_answer(run: Run, stack: Stack) -> None:
    before = run.addresses()
    stack.error = AssayError("there is no answer from AWS")
    run.take()
    assert run.addresses() == before and "hosts are taken as they were" in run.lines[-1]


def test_another_instance_and_another_cpu_are_recorded_for_their_host_only(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.run.fleet.capture_hosts", lambda _: {})
    before = {"hosts client[1-2]": {"cpu": "old", "kernel": "6"}, **run.context.fleet.environment()}
    assert before[INSTANCES] == {"client1": "i-1", "client2": "i-2", "client3": "i-3"}
    now = {
        "host client1": {"cpu": "new", "kernel": "6"},
        "host client2": {"cpu": "old", "kernel": "6"},
        INSTANCES: {**before[INSTANCES], "client1": "i-4"},
    }
    _compare_environment(run.context, before, now)
    resumed = {"host client1 (resumed)": {"cpu": "new"}, f"{INSTANCES} (resumed)": {"client1": "i-4"}}
    assert run.store.info().environment == {**before, **resumed}
    assert run.lines == [
        "warning: the environment has changed since the run began: host client1 cpu, instances client1"
    ]


def test_a_new_host_of_a_later_stage_is_added_and_is_no_change(run: Run) -> None:
    before = {"host client1": {"cpu": "old"}}
    _compare_environment(run.context, before, {"hosts client[1-2]": {"cpu": "old"}})
    assert run.store.info().environment == {**before, "hosts client[1-2]": {"cpu": "old"}} and run.lines == []
