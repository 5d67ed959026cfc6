"""Evidence out of runs and published files."""

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
    with pytest.raises(AssayError, match="the run plain names no design for its targets"):
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
