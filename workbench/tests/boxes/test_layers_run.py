"""Whole runs on storage made of several layers: what lies below decides what is said of the results."""

import json
from contextlib import ExitStack
from pathlib import Path

import layer_setups as made
import pytest
from layer_setups import Setup
from run_tools import assay, needs_engine, only_run

from assay.model.result.result import ResultRow
from assay.model.result.run import TargetPlace
from assay.model.result.verdict import Verdict
from assay.run.analysis import analyse_store
from assay.store import RunStore

pytestmark = needs_engine

STUDY = """
study: layers
question: What lies below?
targets:
  place: {{kind: {kind}, path: {path}}}
workloads:
  grid:
    {{operations: [{operations}], cache: {cache}, layout: {layout}{more}}}
repeats: 3
ceilings: none
"""
SIZES = "file_size: 8MiB, record_size: 256KiB"
OF_CACHES = {Verdict.CACHED, Verdict.UNVERIFIED, Verdict.IMPOSSIBLE}
"""Verdicts that no load on the machine can bring about."""


def executed(
    setup: Setup,
    folder: Path,
    operations: str = "write, read",
    cache: str = "direct",
    more: str = "",
    names: bool = False,
) -> tuple[tuple[ResultRow, ...], TargetPlace]:
    """Run a small study on a set-up."""
    with ExitStack() as stack:
        path = setup(stack, folder)
        device = path.startswith("/dev/")
        values = {"kind": "device" if device else "file", "path": path if device else f"{path}/target"}
        more = ", ".join(filter(None, (more, "" if names else SIZES)))
        values["layout"] = "separate" if names else "shared"
        text = STUDY.format(**values, operations=operations, cache=cache, more=f", {more}")
        (folder / "study.yaml").write_text(text)
        assay(folder, "run", "study.yaml", *(["--destroy"] if device else []))
        with RunStore.open(only_run(folder)) as store:
            return tuple(analyse_store(store, quick=True).rows), store.info().places[0]


def rules_of(row: ResultRow) -> set[str]:
    return {f"{finding.verdict} {finding.rule}" for finding in row.findings}


IN_MEMORY: list[tuple[Setup, str]] = [
    (made.zram_device, "/dev/zram"),
    (made.ext4_on_zram, "ext4 on /dev/zram"),
    (made.loop_over_tmpfs, "image) on tmpfs (memory)"),
    (made.ext4_on_loop_over_tmpfs, "on tmpfs (memory)"),
    (made.two_loops_over_tmpfs, "outer/image) on ext4 on /dev/loop"),
    (made.ext4_on_two_loops, "on tmpfs (memory)"),
    (made.overlay_on_tmpfs, "overlay (upper directory"),
]


def name_of(value: object) -> str | None:
    return value.__name__ if callable(value) else ""


@pytest.mark.parametrize(("setup", "words"), IN_MEMORY, ids=name_of)
def test_what_is_memory_below_is_cached(tmp_path: Path, setup: Setup, words: str) -> None:
    rows, place = executed(setup, tmp_path, "write, read, random_write, random_read")
    assert {str(row.verdict) for row in rows} == {"cached"}
    assert all("cached memory_below" in rules_of(row) for row in rows)
    (text,) = {finding.text for row in rows for finding in row.findings if finding.rule == "memory_below"}
    assert words in text and place.storage_chain in text
    assert place.memory_backed and not place.is_memory


def test_a_directory_of_tmpfs_is_what_it_says(tmp_path: Path) -> None:
    def setup(stack: ExitStack, folder: Path) -> str:
        return str(stack.enter_context(made.tmpfs(folder / "memory")))

    rows, place = executed(setup, tmp_path, cache="keep")
    assert place.is_memory and place.storage_chain == "tmpfs (memory)"
    assert not any({finding.verdict for finding in row.findings} & OF_CACHES for row in rows)


@pytest.mark.parametrize("cache", ["direct", "drop"])
def test_what_a_program_answers_is_unverified(tmp_path: Path, cache: str) -> None:
    rows, place = executed(made.fuse, tmp_path, "write, rewrite, read, random_read", cache)
    assert place.device is None and "assay-faultfs" in place.storage_chain
    assert all("unverified unseen_cache" in rules_of(row) for row in rows)


def test_reads_again_through_a_loop_device_with_the_page_cache_are_unverified(tmp_path: Path) -> None:
    def setup(stack: ExitStack, folder: Path) -> str:
        return str(stack.enter_context(made.mounted(stack.enter_context(made.loop(folder)), folder / "point")))

    rows, place = executed(setup, tmp_path, "random_read", "drop", "runtime: 2s")
    assert place.stacked_on
    again = [row for row in rows if min(sample.read_bytes for sample in row.samples) > 10 << 20]
    if not again:
        pytest.skip("too slow to read 8 MiB twice in 2 s")
    assert all("unverified unseen_cache" in rules_of(row) for row in again)


def test_compressed_data_is_not_called_cached(tmp_path: Path) -> None:
    rows, place = executed(made.btrfs_compressing, tmp_path, "write, read", "drop", "compressible: 80")
    assert (place.filesystem, place.layers[0].compresses) == ("btrfs", "does")
    assert all("unverified compressed" in rules_of(row) for row in rows)
    assert all(finding.verdict is not Verdict.CACHED for row in rows for finding in row.findings)
    texts = [finding.text for row in rows for finding in row.findings if finding.rule == "compressed"]
    assert all("because btrfs (compress=zstd" in text and "80 % compressible" in text for text in texts)


def test_compressed_data_that_was_in_memory_is(tmp_path: Path) -> None:
    rows, _ = executed(made.btrfs_compressing, tmp_path, "write, read", "keep", "compressible: 80")
    (read,) = [row for row in rows if row.operation == "read"]
    assert "cached compressed" in rules_of(read)


def on_file(stack: ExitStack, folder: Path, kind: str = "ext4", options: str = "defaults", direct: bool = True) -> Path:
    """A file system on a loop device over a file in a folder."""
    folder.mkdir(exist_ok=True)
    device = stack.enter_context(made.loop(folder, direct=direct))
    return stack.enter_context(made.mounted(device, folder / "point", kind, options))


def test_writes_that_the_memory_below_a_loop_device_takes_are_cached(tmp_path: Path) -> None:
    def setup(stack: ExitStack, folder: Path) -> str:
        return str(on_file(stack, folder / "a", options="barrier=0", direct=False))

    (again,), _ = executed(setup, tmp_path, "rewrite", more="runtime: 1s, sync: fsync")
    assert {"cached absorbed_writes", "cached flush_without_effect"} <= rules_of(again)


def test_flushes_that_never_reach_a_loop_device_are_without_effect(tmp_path: Path) -> None:
    def setup(stack: ExitStack, folder: Path) -> str:
        return str(on_file(stack, folder / "a", options="barrier=0", direct=False))

    (stable,), _ = executed(setup, tmp_path, "random_write", more="sync: o_dsync")
    assert "cached flush_without_effect" in rules_of(stable)


def test_reads_that_the_file_system_below_a_loop_device_caches_are_cached(tmp_path: Path) -> None:
    def setup(stack: ExitStack, folder: Path) -> str:
        device = stack.enter_context(made.loop(folder, 2 * made.IMAGE, direct=True))
        outer = stack.enter_context(made.mounted(device, folder / "outer", options="data=journal"))
        return str(on_file(stack, outer / "inner"))

    (row,), place = executed(setup, tmp_path, "random_read", more="runtime: 1s")
    assert place.direct_bypasses_cache and "cached answered_below" in rules_of(row)


def test_names_that_are_looked_at_again_are_cached(tmp_path: Path) -> None:
    def setup(stack: ExitStack, folder: Path) -> str:
        return str(on_file(stack, folder / "a"))

    more = "files: 500, depth: 1, width: 4, runtime: 500ms"
    (row,), _ = executed(setup, tmp_path, "stat", "drop", more, names=True)
    assert "cached cached_names" in rules_of(row)


HONEST: list[tuple[Setup, str]] = [
    (made.disk, "direct"),
    (made.ext4_on_direct_loop, "direct"),
    (made.ext4_on_direct_loop, "drop"),
    (made.xfs_on_direct_loop, "direct"),
    (made.btrfs_compressing, "direct"),
    (made.btrfs_compressing, "drop"),
    (made.overlay_on_disk, "direct"),
    (made.overlay_on_disk, "drop"),
]


@pytest.mark.parametrize(("setup", "cache"), HONEST, ids=name_of)
def test_honest_storage_gets_no_verdict_about_caches(tmp_path: Path, setup: Setup, cache: str) -> None:
    rows, place = executed(setup, tmp_path, "write, read", cache)
    assert len(rows) == 2 and place.layers
    if place.memory_backed:
        pytest.skip("the folder of the tests is in memory")
    assert [rules_of(row) for row in rows if {finding.verdict for finding in row.findings} & OF_CACHES] == []


def null(folder: Path, latency: str = "") -> ResultRow:
    """The one result of a null target."""
    values = {
        "layout": "shared",
        "kind": f'"null"{latency}',
        "operations": "random_read",
        "cache": "keep",
        "more": f", runtime: 200ms, {SIZES}",
    }
    text = STUDY.format(path="", **values).replace(", path: ", "")
    (folder / "study.yaml").write_text(text)
    assay(folder, "run", "study.yaml")
    with RunStore.open(only_run(folder)) as store:
        (row,) = analyse_store(store, quick=True).rows
        return row


def test_a_null_target_that_takes_no_time_measures_the_engine(tmp_path: Path) -> None:
    assert "client-bound no_storage" in rules_of(null(tmp_path))


def test_a_null_target_with_a_latency_does_what_the_study_says(tmp_path: Path) -> None:
    row = null(tmp_path, ", latency: {distribution: fixed, time: 200us}")
    assert "no_storage" not in {finding.rule for finding in row.findings}
    assert not {finding.verdict for finding in row.findings} & OF_CACHES


def test_the_layers_are_shown_and_kept(tmp_path: Path) -> None:
    executed(made.ext4_on_loop_over_tmpfs, tmp_path)
    shown = assay(tmp_path, "show", "last").stdout
    assert "ext4 on /dev/loop" in shown and "on tmpfs (memory)" in shown
    (place,) = json.loads(assay(tmp_path, "show", "last", "--json").stdout)["places"]
    assert [layer["kind"] for layer in place["layers"]] == ["file system", "loop", "memory"]
    assay(tmp_path, "report", "last", "--output", "report.html")
    report = (tmp_path / "report.html").read_text()
    assert "Storage" in report and "on tmpfs (memory)" in report
