"""Evidence out of runs and published files."""

import json

import pytest
from paths import GOLDEN
from run_tools import assay
from stored_runs import noisy, store_run

from assay.analyse.estimate import estimate
from assay.model.base import AssayError
from assay.model.money.priced_designs import FrozenPrices
from assay.model.money.use import DesignChoice, Use
from assay.money.books.books import load_book
from assay.money.cost.designs import load_template
from assay.money.cost.stored_prices import priced_design
from assay.rooms.advice.commands.evidence import gather_evidence
from assay.rooms.advice.work.published_evidence import published_evidence

NEEDS = GOLDEN / "needs"
READ, WRITE = noisy(3e8), noisy(2e8, seed=2)


@pytest.fixture
def runs(tmp_path):
    """A run of three targets, two of which stand for designs; what one of them read came from memory."""
    speeds = {("disk", "write"): WRITE, ("disk", "read"): READ, ("big", "read"): READ, ("other", "read"): READ}
    cached = {("big", "read"): {"device_read_bytes": 0}}
    folder = store_run(tmp_path / "assay-runs", "r1", speeds, samples=cached)
    designs = {"disk": "d2.2xlarge", "big": "d2.4xlarge"}
    prices = FrozenPrices(
        book=load_book("aws-eu-west-1-2016"),
        designs={
            target: priced_design(
                chosen := DesignChoice(design="nfs-instance-store", set={"instance": instance}),
                load_template(chosen.design).build(chosen.set),
                Use(),
            )
            for target, instance in designs.items()
        },
    )
    (folder / "prices.json").write_text(prices.model_dump_json())
    return folder.parent


def test_a_run_gives_its_sound_rows_with_their_intervals(runs):
    found = gather_evidence("r1", runs)
    rates = {item.metric: item for item in found.evidence if item.metric in ("read", "write")}
    for metric, values in (("read", READ), ("write", WRITE)):
        expected = estimate(values)
        measured = rates[metric].measured
        assert (measured.value, measured.low, measured.high) == (expected.median, expected.low, expected.high)
    item = rates["read"]
    assert item.chosen.set == {"instance": "d2.2xlarge"}
    assert (item.pattern, item.record, item.clients) == ("sequential", 65536, 1)
    assert item.source == "run r1, c0001 read"
    assert {item.metric for item in found.evidence} == {"read", "write", "read_iops", "write_iops"}


def test_what_is_left_out_is_counted_with_its_reason(runs):
    left_out = gather_evidence("r1", runs).left_out
    assert left_out == {"cached": 1, "the target other names no design": 1}


def test_a_run_without_designs_is_refused(tmp_path):
    store_run(tmp_path, "plain", {("disk", "read"): READ})
    with pytest.raises(AssayError, match="plain: nothing says of which design its results are"):
        gather_evidence("plain", tmp_path)


def test_the_command_takes_runs_and_says_what_does_not_count(runs):
    text = (NEEDS / "06-archived.yaml").read_text().replace("140MB/s", "150MB/s")
    # Records of the run are 64 KiB, and one client measured it.
    text = text.replace("clients: 8", "clients: 1") + "profile: {record: 64KiB}\n"
    (runs.parent / "need.yaml").write_text(text)
    done = assay(runs.parent, "advise", "need.yaml", "--all", "--evidence", "r1")
    assert "r1: 4 figures of evidence" in done.stderr
    assert "r1: 1 result left out: cached" in done.stderr
    assert "Recommended: nfs-instance-store instance=d2.2xlarge" in done.stdout
    assert "run r1, c0001 write" in done.stdout and "95 % interval" in done.stdout
    without = assay(runs.parent, "advise", "need.yaml")
    assert "Recommended: nfs-volumes" in without.stdout


def test_published_figures_are_those_of_the_papers():
    found = published_evidence()
    assert len(found) == 7 + 26 and {item.source.split(" (")[0] for item in found} == {"NFS paper", "BeeGFS paper"}
    peak = max(item.measured.value for item in found if item.chosen.design == "beegfs" and item.metric == "write")
    assert peak == 6810e6
    nfs = {
        (item.chosen.set["instance"], item.metric): item.measured.value
        for item in found
        if item.chosen.design == "nfs-instance-store"
    }
    assert nfs["d2.8xlarge", "write"] == pytest.approx(1140811.62 * 1024, rel=1e-5)


def test_prices_of_a_newer_assay_are_left_out_with_that_reason(runs):
    path = runs / "r1/prices.json"
    path.write_text(path.read_text().replace('"schema_version":1', '"schema_version":99', 1))
    found = gather_evidence("r1", runs)
    (why,) = found.left_out
    assert not found.evidence and "made by a newer Assay (version 99" in why


def test_ends_that_are_not_written_are_not_named(tmp_path):
    figure = "{design: nfs-volumes, metric: read, value: 5MB/s, low: 6MB/s}"
    (tmp_path / "own.yaml").write_text(f"evidence: x\nsource: y\nfigures:\n  - {figure}\n")
    with pytest.raises(AssayError, match="5MB/s is not between 6MB/s and 5MB/s"):
        gather_evidence(str(tmp_path / "own.yaml"), tmp_path)


def fio_output(folder, name="nfs.json", rw="read", **options):
    """A file of fio's JSON: 1,000 records of 64 KiB in order at 300 MB/s."""
    side = {
        "io_bytes": 65536000,
        "io_kbytes": 64000,
        "bw_bytes": 300_000_000,
        "iops": 4577.6,
        "runtime": 218,
        "total_ios": 1000,
    }
    job = {"jobname": "r", "groupid": 0, "error": 0, "job options": {"name": "r", "rw": rw, "bs": "64k", **options}}
    (folder / name).write_text(json.dumps({"fio version": "fio-3.33", "jobs": [{**job, rw: side}]}))


def file_of_runs(folder, *entries):
    """A file that names runs with their designs."""
    text = "".join(f"  - {{{entry}}}\n" for entry in entries)
    (folder / "own.yaml").write_text(f"evidence: ours\nruns:\n{text}")
    return str(folder / "own.yaml")


STORE = "design: nfs-instance-store, set: {instance: d2.2xlarge}"


def test_results_of_another_tool_count_for_the_design_that_a_file_names_with_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fio_output(tmp_path, directory="/mnt/nfs", direct="1")
    found = gather_evidence(file_of_runs(tmp_path, f"run: nfs.json, {STORE}"), tmp_path)
    by_metric = {item.metric: item for item in found.evidence}
    assert by_metric.keys() == {"read", "read_iops"} and not found.left_out
    item = by_metric["read"]
    assert item.measured.value == 3e8
    assert (item.chosen.design, item.chosen.set) == ("nfs-instance-store", {"instance": "d2.2xlarge"})
    assert (item.pattern, item.record, item.clients) == ("sequential", 65536, 1)
    assert item.source == f"imported from fio 3.33, {tmp_path}/nfs.json, c0001 read"
    text = (NEEDS / "06-archived.yaml").read_text().replace("140MB/s", "150MB/s").replace("clients: 8", "clients: 1")
    (tmp_path / "need.yaml").write_text(text + "profile: {record: 64KiB}\n")
    fio_output(tmp_path, "writes.json", "write", directory="/mnt/nfs", direct="1", sync="dsync")
    file_of_runs(tmp_path, f"run: nfs.json, {STORE}", f"run: writes.json, {STORE}")
    done = assay(tmp_path, "advise", "need.yaml", "--all", "--evidence", "own.yaml")
    assert "own.yaml: 4 figures of evidence" in done.stderr
    assert "Recommended: nfs-instance-store instance=d2.2xlarge" in done.stdout
    assert "300 MB/s measured with 1 client" in done.stdout and "fio 3.33, writes.json, c0001 write" in done.stdout


def test_what_an_output_does_not_say_is_for_the_user_to_state(tmp_path):
    fio_output(tmp_path, directory="/mnt/nfs")
    (why,) = gather_evidence(file_of_runs(tmp_path, f"run: nfs.json, {STORE}"), tmp_path).left_out
    assert why == "memory may have answered the reads, as direct I/O is not stated: if not, state `uncached: true`"
    (item, _) = gather_evidence(file_of_runs(tmp_path, f"run: nfs.json, {STORE}, uncached: true"), tmp_path).evidence
    assert item.source.endswith("c0001 read; as stated: not in memory")
    fio_output(tmp_path, "writes.json", "write", directory="/mnt/nfs", direct="1")
    (why,) = gather_evidence(file_of_runs(tmp_path, f"run: writes.json, {STORE}"), tmp_path).left_out
    assert why.startswith("memory may still have held what was written, as no flush is stated")
    assert gather_evidence(file_of_runs(tmp_path, f"run: writes.json, {STORE}, uncached: true"), tmp_path).evidence
    (tmp_path / "rates.csv").write_text("operation,MB/s\nread,300\nwrite,200\n")
    (tmp_path / "rates.roles.yaml").write_text(
        "rows: results\ncolumns:\n  operation: {role: operation}\n  MB/s: {role: throughput, unit: MB/s}\n"
    )
    (why,) = gather_evidence(file_of_runs(tmp_path, f"run: rates.csv, {STORE}, uncached: true"), tmp_path).left_out
    assert why == "the size of its records is not known: state `record`"
    stated = f"run: rates.csv, {STORE}, uncached: true, record: 1MiB, clients: 8"
    found = gather_evidence(file_of_runs(tmp_path, stated), tmp_path).evidence
    assert {(item.record, item.clients) for item in found} == {(1 << 20, 8)}
    assert found[0].source.endswith("; as stated: records of 1MiB, 8 clients, not in memory")


def test_a_file_that_names_runs_is_refused_with_its_line(tmp_path):
    fio_output(tmp_path, directory="/mnt/nfs", direct="1")
    fio_output(tmp_path, "other.json", directory="/mnt/b", direct="1")
    refused = {
        f"run: none.json, {STORE}": "there is no file, folder or run none.json",
        f"run: nfs.json, {STORE}, record: 1MiB": "`record` is 1MiB, but c0001 read was measured with 64KiB",
        f"run: nfs.json, {STORE}, clients: 8": "`clients` is 8, but c0001 read was measured with 1",
        f"run: nfs.json, {STORE}, target: /mnt/c": "no target /mnt/c",
        f"run: ., {STORE}": "its targets are /mnt/nfs, /mnt/b",
        f"run: nfs.json, {STORE}, pattern: random": "unknown key `pattern`",
        "run: nfs.json": "`design` is missing",
    }
    for entry, words in refused.items():
        file = file_of_runs(tmp_path, entry)
        with pytest.raises(AssayError) as caught:
            gather_evidence(file, tmp_path / "assay-runs")
        assert caught.value.message.startswith(f"{file}:3: ") and words in caught.value.message
    one = gather_evidence(file_of_runs(tmp_path, f"run: ., {STORE}, target: /mnt/b"), tmp_path)
    assert len(one.evidence) == 2 and not one.left_out


def test_a_file_elsewhere_that_a_file_of_figures_names_is_not_quoted(tmp_path):
    (tmp_path / "secret.json").write_text(
        '{"fio version": "fio-3.33", "jobs": [{"jobname": "hunter2", "error": "no"}]}'
    )
    (tmp_path / "from-a-stranger").mkdir()
    file = file_of_runs(tmp_path / "from-a-stranger", f"run: ../secret.json, {STORE}")
    with pytest.raises(AssayError, match="cannot be read as results") as caught:
        gather_evidence(file, tmp_path)
    assert "hunter2" not in str(caught.value) + caught.value.hint


def test_a_file_of_figures_needs_figures_or_runs_and_the_source_of_figures(tmp_path):
    for text, words in {
        "evidence: x\n": "neither `figures` nor `runs`",
        "evidence: x\nfigures: [{design: nfs-volumes, metric: read, value: 5MB/s}]\n": "`source` is missing",
    }.items():
        (tmp_path / "own.yaml").write_text(text)
        with pytest.raises(AssayError, match=words):
            gather_evidence(str(tmp_path / "own.yaml"), tmp_path)
