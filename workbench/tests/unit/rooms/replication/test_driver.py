"""The program of a replication, as far as it needs no second host: trees, changes, lag, and what it prints."""

import re
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.study.replication import REPLICATORS
from assay.model.study.replication_figures import SYNCS, figure_pattern
from assay.rooms.replication.driver import replicators, report, scenarios, standby, trees
from assay.rooms.replication.driver.processes import DriverError, Sync, kill_tree, run
from assay.rooms.replication.driver.replicators import Ends, OwnCommand, Rsync
from assay.rooms.replication.driver.source import Writer

MANIFESTS = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["1:x", "2:y", "3:z"]))


@given(MANIFESTS, MANIFESTS)
def test_each_file_of_two_manifests_is_counted_once(before: dict[str, str], after: dict[str, str]) -> None:
    found = trees.changes(before, after)
    assert sorted([*found.new, *found.updated, *found.deleted, *found.unchanged]) == sorted({*before, *after})
    assert sorted([*found.new, *found.updated, *found.deleted]) == trees.differing(before, after)


@given(MANIFESTS, MANIFESTS, MANIFESTS)
def test_a_file_is_torn_if_it_is_neither_version(
    before: dict[str, str], wanted: dict[str, str], found: dict[str, str]
) -> None:
    torn = trees.torn(before, wanted, found)
    assert all(found[path] not in (before.get(path), wanted.get(path)) for path in torn)
    assert not trees.torn(before, wanted, before)
    assert not trees.torn(before, wanted, wanted)


def test_a_tree_comes_from_its_seed_and_changes_as_stated(tmp_path: Path) -> None:
    for name in ("one", "other"):
        trees.make_tree(str(tmp_path / name), files=20, size=5000, seed=7)
    before = trees.manifest(str(tmp_path / "one"))
    assert before == trees.manifest(str(tmp_path / "other"))
    assert len(set(before.values())) == 20
    trees.change_tree(str(tmp_path / "one"), new=3, updated=4, deleted=5, size=100, seed=8)
    found = trees.changes(before, trees.manifest(str(tmp_path / "one")))
    assert [len(part) for part in found] == [3, 4, 5, 11]


def test_a_link_is_where_it_leads_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/nowhere/at all")
    assert trees.manifest(str(tmp_path)) == {"link": "0:/nowhere/at all"}


@given(st.floats(0, 2e9))
def test_what_is_printed_is_found_again(value: float) -> None:
    for name in ("lag 95 %", "initial start"):
        found = re.search(figure_pattern(name), f"x\n{report.line(name, value)}\ny", re.MULTILINE)
        assert found
        assert float(found[1]) == pytest.approx(value, rel=1e-8, abs=1e-3)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=20), st.floats(0, 200), st.integers(0, 20))
def test_lag_is_the_age_of_the_oldest_write_that_is_missing(gaps: list[float], now: float, arrived: int) -> None:
    writer = Writer("/none", 1.0)
    writer.times = sorted(gaps)
    missing = [made for made in writer.times[arrived:] if made <= now]
    assert writer.lag(now, arrived) == (now - missing[0] if missing else 0.0)


def test_words_of_ones_own_command_are_filled_in() -> None:
    ends = Ends("/a", "there", "/b", ["ssh", "-F", "a file"])
    own = OwnCommand(ends, ["true", "$source/", "${host}:$replica/", "$ssh", "$kept", "$HOME"], [])
    filled = own._filled(own._forth, "/a/source", standby.REPLICA)
    assert filled == ["true", "/a/source/", "there:/b/replica/", "ssh -F 'a file'", "/a/set-aside", "$HOME"]
    with pytest.raises(DriverError, match="has no program"):
        OwnCommand(ends, ["/none/such"], [])


def test_streams_share_out_the_folders_and_a_last_pass_sees_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees.make_tree(str(tmp_path / "source"), files=8, size=10, seed=1)
    started: list[list[str]] = []
    monkeypatch.setattr(Sync, "start", lambda self, words: started.append(words) or self)
    Rsync(Ends(str(tmp_path), "there", "/b", ["ssh"], streams=3)).start(str(tmp_path / "source")).wait()
    ((shell, _, text),) = started
    assert shell == "/bin/sh"
    assert text.count("rsync -a --delete") == 4
    assert all(f"source/d{number}" in text for number in range(8))
    assert text.rstrip().endswith("there:/b/replica/")


def test_a_sync_is_killed_with_all_that_it_has_started() -> None:
    sync = Sync().start(["/bin/sh", "-c", "sleep 1000 & sleep 1000 & wait"])
    while len(children := _children(sync.processes[0].pid)) < 2:
        time.sleep(0.005)
    sync.kill()
    while any(_state(child) not in ("", "Z") for child in children):
        time.sleep(0.005)
    assert sync.wait() == -9
    kill_tree(sync.processes[0].pid)


def test_a_pipeline_fails_if_any_part_of_it_does() -> None:
    sync = Sync().start(["/bin/sh", "-c", "echo x; echo why >&2; exit 3"], is_read=True)
    sync.start(["cat"], reads=sync.processes[0])
    assert sync.wait() == 3
    assert sync.complaint == "why"


def test_a_command_that_fails_says_why() -> None:
    with pytest.raises(DriverError, match="install it"):
        run(["/none/such"])
    with pytest.raises(DriverError, match="bad thing"):
        run(["/bin/sh", "-c", "echo bad thing >&2; exit 1"])


def test_the_study_and_the_program_have_the_same_words() -> None:
    assert list(scenarios.SCENARIOS) == list(SYNCS)
    assert list(replicators.WORDS) == list(REPLICATORS)
    for word, replicator in replicators.WORDS.items():
        assert replicator.programs == REPLICATORS[word]


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _state(pid: int) -> str:
    """Of a process; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
    except OSError:
        return ""


def test_what_a_copy_did_not_keep_is_seen(tmp_path: Path) -> None:
    source, copy = str(tmp_path / "source"), str(tmp_path / "copy")
    trees.make_tree(source, files=3, size=100, seed=1)
    made = trees.special(source)
    # A file system may lack extended attributes or holes.
    assert {"symbolic links", "hard links", "empty directories"} <= set(made)
    shutil.copytree(source, copy)
    found = trees.special(copy)
    assert "hard links" not in found and "symbolic links" not in found
    assert found["empty directories"] == made["empty directories"]
    # It counts as no file of the tree, but what plain files among it contain must arrive.
    assert len(trees.manifest(source)) == 3 == len(trees.attributes(source))
    assert trees.manifest(source) == trees.manifest(copy)
    assert trees.special_files(source) == trees.special_files(copy)
    (tmp_path / "copy" / trees.SPECIAL / "sparse").write_bytes(b"torn")
    assert trees.differing(trees.special_files(source), trees.special_files(copy)) == ["sparse"]
