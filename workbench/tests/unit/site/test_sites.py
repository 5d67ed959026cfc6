"""One protocol for all sources of hosts: what each gives, and that a run takes any."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from plan_tools import study

from assay.kinds.nfs.study import NfsTarget
from assay.launch.binary import load_engine
from assay.model.base import AssayError
from assay.model.site.host import THIS_HOST, Host
from assay.model.study.study import Study
from assay.plan.expand import expand
from assay.rooms.testbed.work.site import BoxSite
from assay.run import study_hosts
from assay.run.fleet import Fleet
from assay.site.choose import site_of
from assay.site.inventory.site import InventorySite
from assay.site.local import LocalSite
from assay.site.site import PrintLine, Site, SiteState, running_site

NFS = {"store": {"kind": "nfs", "servers": "stack", "export": "/export"}}
INVENTORY = """
hosts:
  client[1-2]: {user: bench, identity: keys/id}
  store1: {address: 10.0.0.5}
"""


class Stack:
    """A source of hosts that Assay does not have: what is up has addresses that nobody knew before."""

    more_hosts_hint = "ask for more machines"

    def __init__(self, count: int = 1) -> None:
        self.count, self.log = count, list[str]()

    @property
    def files(self) -> Mapping[str, Callable[[], bytes]]:
        return {"stack.yaml": lambda: b"stack: 1\n"}

    def check(self, needed: int) -> None:
        self.log.append(f"check {needed}")

    def check_ready(self, needed: int) -> None:
        self.log.append(f"ready {needed}")

    def up(self, say: PrintLine) -> SiteState:
        self.log.append("up")
        say("a stack comes up")
        hosts = tuple(Host(name=f"node{number}", kind="local") for number in range(self.count))
        server = Host(name="server", kind="local")
        target = study(targets={"store": {**NFS["store"], "servers": "10.1.2.3"}}, hosts="a").targets["store"]
        facts = {"server server nfs": {"version": "1"}}
        return SiteState(hosts, (server,), (*hosts, server), (server,), {"store": target}, facts)

    def down(self, say: PrintLine) -> None:
        self.log.append("down")


def test_a_study_names_its_site(tmp_path: Path) -> None:
    assert isinstance(site_of(study(), tmp_path), LocalSite)
    assert isinstance(site_of(study(targets=NFS, hosts="a"), tmp_path), InventorySite)
    assert isinstance(site_of(study(targets=NFS, testbed="office"), tmp_path), BoxSite)


def test_this_machine_is_one_host(tmp_path: Path) -> None:
    with running_site(LocalSite(), 1, print) as standing:
        assert standing.is_local
        assert standing.clients == (THIS_HOST,)
    with (
        pytest.raises(AssayError, match="the study needs 2 hosts, but names none"),
        running_site(LocalSite(), 2, print),
    ):
        pass


def test_an_inventory_knows_more_hosts_than_a_study_uses(tmp_path: Path) -> None:
    (tmp_path / "hosts.yaml").write_text(INVENTORY)
    named = study(targets=NFS, hosts={"inventory": "hosts.yaml", "hosts": "client[1-2]"})
    site = site_of(named, tmp_path)
    with running_site(site, 2, print) as standing:
        assert [host.name for host in standing.clients] == ["client1", "client2"]
        assert [host.address for host in standing.other_hosts] == ["10.0.0.5"]
        assert not standing.created_hosts
        assert not standing.is_local
    few = "the study needs 3 hosts, and has 2: client1, client2"
    with pytest.raises(AssayError, match=few), running_site(site, 3, print):
        pass


def test_a_run_finds_its_site_again_in_its_own_folder(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (tmp_path / "hosts.yaml").write_text(INVENTORY)
    named = study(targets=NFS, hosts={"inventory": "hosts.yaml"})
    study_hosts.copy_study_files(named, tmp_path, run)
    (tmp_path / "hosts.yaml").unlink()
    with running_site(site_of(named, run, is_run_folder=True), 1, print) as standing:
        assert [host.identity for host in standing.clients] == [str(tmp_path / "keys/id")] * 2 + [None]
    (run / "inventory").unlink()
    with pytest.raises(AssayError, match=r"cannot read the inventory hosts\.yaml"):
        site_of(named, run, is_run_folder=True).up(print)


@pytest.mark.parametrize(("testbed", "hosts"), [("office", 2), ("cluster-8", 9)])
def test_a_testbed_that_is_too_small_is_refused_before_it_comes_up(testbed: str, hosts: int, tmp_path: Path) -> None:
    site = site_of(study(targets=NFS, testbed=testbed), tmp_path)
    site.check(hosts - 1)
    with pytest.raises(AssayError, match=f"the study needs {hosts} hosts, and has {hosts - 1}") as refused:
        site.check(hosts)
    assert "use a larger box" in refused.value.hint


def test_hosts_of_a_testbed_have_no_users_of_their_own(tmp_path: Path) -> None:
    site = site_of(study(targets=NFS, testbed="office", hosts="bench@client"), tmp_path)
    with pytest.raises(AssayError, match="client is a host of the box, which takes no user"):
        site.check(1)


def many() -> Study:
    return study(targets=NFS, hosts="node0")


def test_a_run_takes_any_site_and_gives_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stack, said = Stack(), list[str]()
    monkeypatch.setattr(study_hosts, "site_of", lambda *_, **__: stack)
    study_hosts.copy_study_files(many(), tmp_path, tmp_path)
    assert (tmp_path / "stack.yaml").read_bytes() == b"stack: 1\n"
    cases = expand(many()).cases

    def no_fleet(_site: SiteState) -> Fleet:
        raise AssertionError("the study has hosts")

    with study_hosts.hosts_of_study(many(), cases, tmp_path, load_engine(), said.append, no_fleet) as fleet:
        assert [host.name for host in fleet.hosts] == ["node0"]
        assert [host.name for host in fleet.enterable_hosts] == ["node0", "server"]
        assert set(fleet.environment()) >= {"server server nfs"}
        resolved = many().with_targets(fleet.site.targets).targets["store"]
        assert isinstance(resolved, NfsTarget)
        assert resolved.servers == ("10.1.2.3",)
        assert stack.log == ["check 1", "ready 1", "up"]
    assert stack.log[-1] == "down"
    assert said == ["a stack comes up"]


def test_a_site_is_given_back_when_it_has_too_few_hosts() -> None:
    stack: Site = Stack(0)
    with (
        pytest.raises(AssayError, match="the study needs 1 hosts, and has 0") as refused,
        running_site(stack, 1, print),
    ):
        pass
    assert refused.value.hint == "ask for more machines"
    assert isinstance(stack, Stack)
    assert stack.log == ["check 1", "ready 1", "up", "down"]
