"""The catalogue: limits against figures printed elsewhere, what always holds of them, and how entries are found."""

import datetime as dt
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.base import AssayError
from assay.model.money.catalog import (
    CreditVolume,
    Instance,
    InstanceDisks,
    LustreType,
    ProvisionedVolume,
    VolumeLimits,
    VolumeType,
    efs_bursting,
    filesystem_limits,
    fsx_lustre_rate,
    volume_limits,
)
from assay.money.cost.catalog import catalog

GIB, TIB, MIB = 2**30, 2**40, 2**20
VOLUMES = [entry.name for entry in catalog().services() if isinstance(entry, VolumeType)]
LUSTRE = [entry.name for entry in catalog().services() if isinstance(entry, LustreType)]


def limits(name: str, size: int, iops: int | None = None, throughput: float | None = None) -> VolumeLimits:
    return volume_limits(catalog().volume(name), size, iops, throughput)


# Volumes: AWS's own tables and examples (docs.aws.amazon.com/ebs/latest/userguide/).


@pytest.mark.parametrize(
    ("gib", "iops", "seconds"),
    [(100, 300, 2000), (250, 750, 2400), (334, 1002, 2703), (500, 1500, 3600), (750, 2250, 7200), (1000, 3000, None)],
)
def test_gp2_bursts_as_long_as_aws_prints(gib: int, iops: int, seconds: int | None) -> None:
    found = limits("gp2", gib * GIB)
    assert found.iops_baseline == iops
    assert found.iops_burst == 3000
    assert (None if found.burst_seconds is None else round(found.burst_seconds)) == seconds


def test_gp2_has_its_bounds_at_the_sizes_that_aws_names() -> None:
    assert limits("gp2", GIB).iops_baseline == limits("gp2", 33 * GIB).iops_baseline == 100
    assert limits("gp2", 34 * GIB).iops_baseline == 102
    assert limits("gp2", 5333 * GIB).iops_baseline == 15_999
    assert limits("gp2", 5334 * GIB).iops_baseline == limits("gp2", 16 * TIB).iops_baseline == 16_000
    assert limits("gp2", 170 * GIB).read_burst == 128 * MIB
    assert limits("gp2", 171 * GIB).read_burst == limits("gp2", 334 * GIB).read_baseline == 250 * MIB
    assert limits("gp2", 333 * GIB).read_baseline < 250 * MIB
    # 250 MiB/s are 1000 operations of 256 KiB, 250 more than 250 GiB earn: 5.4 M / 250.
    assert limits("gp2", 250 * GIB).rate_burst_seconds == 21_600


def test_gp2_of_2016_ends_at_what_the_guide_of_then_says() -> None:
    found = limits("gp2-2016", 4 * TIB)
    assert (found.iops_baseline, found.read_baseline) == (10_000, 160 * MIB)


def test_gp3_has_what_is_included_and_what_is_bought() -> None:
    free = limits("gp3", GIB)
    assert (free.iops_baseline, free.read_baseline, free.burst_seconds) == (3000, 125 * MIB, None)
    bought = limits("gp3", 160 * GIB, 80_000, 2000 * MIB)
    assert (bought.iops_burst, bought.write_burst) == (80_000, 2000 * MIB)


@pytest.mark.parametrize(
    ("name", "size", "iops", "rate", "message"),
    [
        ("gp3", GIB, 3001, None, "cannot have 3001 IOPS"),
        ("gp3", 159 * GIB, 80_000, None, "cannot have 80000 IOPS"),
        ("gp3", TIB, 2999, None, "cannot have 2999 IOPS"),
        ("gp3", TIB, None, 751.0 * MIB, "cannot have 751 MiB/s"),
        ("gp3", TIB, 16_000, 2001.0 * MIB, "cannot have 2001 MiB/s"),
        ("gp3-2020", TIB, 16_001, None, "cannot have 16001 IOPS"),
        ("gp3", 65 * TIB, None, None, "cannot be 65TiB large"),
        ("io1", TIB, None, None, "needs its IOPS stated"),
        ("io1", 100 * GIB, 5001, None, "cannot have 5001 IOPS"),
        ("io1", TIB, 1000, 100.0 * MIB, "takes no provisioned throughput"),
        ("gp2", TIB, 5000, None, "takes no provisioned IOPS"),
        ("st1", TIB, None, 5.0, "takes no provisioned throughput"),
        ("standard", TIB, 100, None, "takes no provisioned IOPS"),
    ],
)
def test_a_volume_that_cannot_be_had_is_refused(
    name: str, size: int, iops: int | None, rate: float | None, message: str
) -> None:
    with pytest.raises(AssayError) as refused:
        limits(name, size, iops, rate)
    assert message in refused.value.message
    assert refused.value.hint
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("name", "iops", "mib"),
    [
        ("io1", 2000, 500),
        ("io1", 32_000, 500),
        ("io1", 48_000, 750),
        ("io1", 64_000, 1000),
        ("io1", 1000, 250),
        ("io2", 16_000, 4000),
        ("io2", 256_000, 4000),
        ("io2", 4000, 1000),
    ],
)
def test_the_rate_of_provisioned_iops_is_what_aws_states(name: str, iops: int, mib: int) -> None:
    assert limits(name, 16 * TIB, iops).read_baseline == mib * MIB


@pytest.mark.parametrize(
    ("name", "tib", "keeps", "burst"),
    [
        ("st1", 1, 40, 250),
        ("st1", 2, 80, 500),
        ("st1", 12.5, 500, 500),
        ("st1", 16, 500, 500),
        ("sc1", 1, 12, 80),
        ("sc1", 3.125, 37.5, 250),
        ("sc1", 16, 192, 250),
    ],
)
def test_hard_disks_stream_as_aws_states(name: str, tib: float, keeps: float, burst: float) -> None:
    found = limits(name, int(tib * TIB))
    assert found.read_baseline == pytest.approx(keeps * MIB)
    assert found.read_burst == pytest.approx(burst * MIB)


def test_a_bucket_of_st1_is_emptied_by_what_comes_out_less_what_comes_in() -> None:
    assert limits("st1", TIB).burst_seconds == pytest.approx(2**20 / (250 - 40))
    assert limits("st1", 13 * TIB).burst_seconds is None


# File systems: the burst table and the figures of FSx in the OneFS paper of 2020.


@pytest.mark.parametrize(
    ("stored", "burst_mib", "baseline_mib", "hours"),
    [(100 * GIB, 100, 4.8828125, 1.171875), (TIB, 100, 50, 12), (10 * TIB, 1000, 500, 12)],
)
def test_efs_bursts_as_the_table_of_the_paper_prints(
    stored: int, burst_mib: float, baseline_mib: float, hours: float
) -> None:
    found = efs_bursting(stored)
    assert found.burst == pytest.approx(burst_mib * MIB)
    assert found.baseline == pytest.approx(baseline_mib * MIB)
    assert found.hours_per_day == pytest.approx(hours)
    assert found.minutes_per_day == pytest.approx(60 * hours)


def test_the_rounded_figures_of_the_paper_follow() -> None:
    """It prints 5 MiB/s and 1.2 h for 100 GiB, and 1 GiB/s for the 1000 MiB/s of 10 TiB."""
    small, large = efs_bursting(100 * GIB), efs_bursting(10 * TIB)
    assert f"{small.baseline / MIB:.0f}" == "5"
    assert f"{small.hours_per_day:.1f}" == f"{24 * 5 / 100:.1f}" == "1.2"
    assert f"{large.burst / GIB:.0f}" == "1"
    # With the printed 1 GiB/s it would be 11.7 hours; the printed 12 follow from 1000 MiB/s.
    assert f"{24 * 500 / 1024:.1f}" == "11.7"
    assert f"{large.hours_per_day:.0f}" == "12"


def test_a_new_efs_has_credits_of_2_1_tib_and_a_least_rate() -> None:
    empty = efs_bursting(0)
    assert (empty.baseline, empty.burst, empty.credits) == (MIB, 100 * MIB, 2.1 * TIB)
    assert efs_bursting(20 * GIB).baseline == MIB
    assert efs_bursting(21 * GIB).baseline > MIB
    with pytest.raises(AssayError, match="cannot hold"):
        efs_bursting(-1)


def test_efs_reads_are_metered_at_a_third_today_and_in_full_in_2020() -> None:
    today, then = (filesystem_limits(catalog().filesystem(name), TIB) for name in ("efs-bursting", "efs-bursting-2020"))
    assert today.read_baseline == 150 * MIB
    assert then.read_baseline == then.write_baseline == today.write_baseline == 50 * MIB


def test_provisioned_efs_has_the_larger_of_what_is_bought_and_what_is_stored() -> None:
    kind = catalog().filesystem("efs-provisioned")
    assert filesystem_limits(kind, TIB, 256.0 * MIB).write_baseline == 256 * MIB
    stored = filesystem_limits(kind, 10 * TIB, 256.0 * MIB)
    assert (stored.write_baseline, stored.burst_hours_per_day) == (500 * MIB, 12)
    for rate in (None, 0.5 * MIB, 4000.0 * MIB):
        with pytest.raises(AssayError):
            filesystem_limits(kind, TIB, rate)


@pytest.mark.parametrize(("gib", "mb_per_s"), [(1200, 234.375), (24_000, 4687.5)])
def test_lustre_has_the_throughput_of_the_paper(gib: int, mb_per_s: float) -> None:
    assert fsx_lustre_rate(gib * GIB, 200) == mb_per_s * 1e6
    found = filesystem_limits(catalog().filesystem("fsx-lustre-persistent-200"), gib * GIB)
    assert found.read_baseline == found.write_baseline == mb_per_s * 1e6
    assert found.read_burst == pytest.approx(gib / 1024 * 1300e6)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("fsx-lustre-persistent-ssd-125", (1200, 2400, 4800, 24_000), (0, 1000, 1201, 3600, 6000)),
        ("fsx-lustre-scratch-1", (1200, 2400, 3600, 7200), (4800, 6000)),
        ("fsx-lustre-persistent-hdd-12", (6000, 12_000), (1200, 2400)),
        ("fsx-lustre-persistent-hdd-40", (1800, 3600), (1200, 2400)),
    ],
)
def test_lustre_comes_in_steps(name: str, good: tuple[int, ...], bad: tuple[int, ...]) -> None:
    kind = catalog().filesystem(name)
    for gib in good:
        assert filesystem_limits(kind, gib * GIB).read_baseline
    for gib in bad:
        with pytest.raises(AssayError, match="is not available"):
            filesystem_limits(kind, gib * GIB)


@given(name=st.sampled_from(LUSTRE), size=st.integers(0, 500 * TIB))
def test_the_next_capacity_holds_what_is_wanted_and_can_be_had(name: str, size: int) -> None:
    kind = catalog().filesystem(name)
    assert isinstance(kind, LustreType)
    found = kind.capacity_for(size)
    assert found >= size
    assert kind.has_capacity(found)
    assert not any(size <= each < found and kind.has_capacity(each) for each in (*kind.capacities, found - kind.step))


# What holds of all.


def figures(name: str, size: int, share: float) -> VolumeLimits:
    """Limits of a volume; of one that is provisioned with a share of the most that the least size can have."""
    kind = catalog().volume(name)
    if isinstance(kind, ProvisionedVolume):
        most = kind.max_iops(kind.min_size)
        return volume_limits(kind, size, round(kind.iops_min + share * (most - kind.iops_min)))
    return volume_limits(kind, size)


@given(name=st.sampled_from(VOLUMES), share=st.floats(0, 1), data=st.data())
def test_a_larger_volume_is_never_slower(name: str, share: float, data: st.DataObject) -> None:
    kind = catalog().volume(name)
    sizes = st.integers(kind.min_size, kind.max_size)
    small, large = sorted((data.draw(sizes), data.draw(sizes)))
    less, more = figures(name, small, share), figures(name, large, share)
    for field in ("read_baseline", "read_burst", "write_baseline", "write_burst", "iops_baseline", "iops_burst"):
        assert getattr(less, field) <= getattr(more, field), field


@given(name=st.sampled_from(VOLUMES), share=st.floats(0, 1), data=st.data())
def test_a_volume_keeps_no_more_than_its_burst_and_that_no_more_than_its_type(
    name: str, share: float, data: st.DataObject
) -> None:
    kind = catalog().volume(name)
    found = figures(name, data.draw(st.integers(kind.min_size, kind.max_size)), share)
    assert 0 < found.read_baseline <= found.read_burst <= kind.rate_max
    assert 0 < found.iops_baseline <= found.iops_burst <= kind.iops_max
    if found.burst_seconds is not None:
        assert found.burst_seconds > 0
        assert found.iops_burst > found.iops_baseline
    if isinstance(kind, CreditVolume) and found.burst_seconds and found.rate_burst_seconds:
        assert found.rate_burst_seconds >= found.burst_seconds


@given(name=st.sampled_from(VOLUMES), data=st.data())
def test_a_size_outside_the_type_is_refused(name: str, data: st.DataObject) -> None:
    kind = catalog().volume(name)
    size = data.draw(st.integers(-TIB, kind.min_size - 1) | st.integers(kind.max_size + 1, 10**18))
    with pytest.raises(AssayError, match="large"):
        volume_limits(kind, size)


@given(st.tuples(st.integers(0, 10**16), st.integers(0, 10**16)))
def test_more_in_efs_is_never_slower(pair: tuple[int, int]) -> None:
    less, more = (efs_bursting(size) for size in sorted(pair))
    assert less.baseline <= more.baseline <= more.burst
    assert less.burst <= more.burst
    assert less.hours_per_day <= more.hours_per_day * (1 + 1e-12)
    assert more.hours_per_day <= 12 * (1 + 1e-12)


# Instances.


def test_each_service_of_files_objects_and_items_says_when_readers_see_what_was_written() -> None:
    """With the source. Of Parallelstore and of S3's directory buckets none was found; volumes have one reader."""
    services = [each for each in catalog().services() if not isinstance(each, VolumeType)]
    assert {each.name for each in services if not each.consistency} == {"parallelstore-scratch", "s3-express-one-zone"}
    assert all("2026-11-28" in each.consistency for each in services if each.consistency)
    words = {"s3-standard-ia": "strong", "dynamodb": "eventual", "efs-elastic": "close-to-open", "blob-cool": "strong"}
    assert all(catalog().entry(name).consistency.startswith(word) for name, word in words.items())
    assert catalog().entry("gcs-archive").source_lines()[0].startswith("Consistency: strong")


def test_no_instance_of_aws_sends_more_than_aws_says_it_has() -> None:
    """Each network card may state the rate of the whole instance, as two of 200 Gbit/s in c6in.32xlarge do."""
    for name in catalog().instance_names():
        instance = catalog().instance(name)
        words = re.fullmatch(r"(?:(\d+)x )?(?:Up to )?([\d.]+) Gigabit", instance.network_words)
        if words and instance.network_burst:
            most = int(words[1] or 1) * float(words[2]) * 1e9 / 8
            assert (instance.network_baseline or 0) <= instance.network_burst <= 1.01 * most, name
    assert catalog().instance("c6in.32xlarge").network_baseline == 200e9 / 8


def test_instances_have_what_the_papers_print() -> None:
    """The table of the NFS paper of 2016."""
    printed = {
        "d2.xlarge": (4, 30.5, 3),
        "d2.2xlarge": (8, 61, 6),
        "d2.4xlarge": (16, 122, 12),
        "d2.8xlarge": (36, 244, 24),
    }
    for name, (vcpus, memory, disks) in printed.items():
        found = catalog().instance(name)
        assert (found.vcpus, found.memory / GIB) == (vcpus, memory)
        assert found.disks == (InstanceDisks(count=disks, size=2 * 10**12, kind="hdd"),)
        assert found.disk_bytes == disks * 2 * 10**12
    assert catalog().instance("d2.8xlarge").network_baseline == 10e9 / 8


def test_a_burst_of_an_instance_is_stated_with_its_length() -> None:
    found = catalog().instance("m5.large")
    assert (found.network_baseline, found.network_burst) == (0.75e9 / 8, 10e9 / 8)
    assert (found.ebs_baseline, found.ebs_burst, found.ebs_burst_seconds) == (81.25e6, 593.75e6, 1800)
    assert (found.ebs_iops_baseline, found.ebs_iops_burst) == (3600, 18_750)
    assert found.network_words == "Up to 10 Gigabit"


def test_several_network_cards_add_up_and_disks_have_their_kind() -> None:
    assert catalog().instance("p4d.24xlarge").network_baseline == 400e9 / 8
    assert catalog().instance("i3en.24xlarge").disks == (InstanceDisks(count=8, size=7500 * 10**9, kind="nvme"),)
    assert catalog().instance("i2.8xlarge").disks[0].kind == "ssd"
    assert catalog().instance("d3.xlarge").disks[0].kind == "hdd"


@pytest.mark.parametrize(
    "name",
    [
        "m1.small",
        "m1.medium",
        "m1.large",
        "m1.xlarge",
        "m2.xlarge",
        "m2.2xlarge",
        "m2.4xlarge",
        "c1.medium",
        "c1.xlarge",
        "hi1.4xlarge",
        "c3.large",
        "c4.8xlarge",
        "i2.8xlarge",
    ],
)
def test_the_types_of_the_papers_are_there(name: str) -> None:
    found = catalog().instance(name)
    assert found.vcpus
    assert found.network_baseline


def test_what_is_not_known_is_none() -> None:
    found = catalog().instance("hi1.4xlarge")
    assert (found.ebs_baseline, found.ebs_iops_baseline) == (None, None)


def test_every_instance_reads_and_keeps_no_more_than_it_bursts() -> None:
    names = catalog().instance_names()
    assert len(names) > 1300
    assert len(set(names)) == len(names)
    for found in map(catalog().instance, names):
        assert found.source
        assert (found.network_baseline or 0) <= (found.network_burst or 0)
        assert (found.ebs_baseline or 0) <= (found.ebs_burst or 0)
        assert (found.ebs_iops_baseline or 0) <= (found.ebs_iops_burst or 0)
        bursts = (found.ebs_baseline or 0) < (found.ebs_burst or 0)
        bursts = bursts or (found.ebs_iops_baseline or 0) < (found.ebs_iops_burst or 0)
        assert (found.ebs_burst_seconds is not None) == bursts


def test_a_family_is_in_the_order_of_size() -> None:
    sizes = [each.vcpus for each in catalog().family("i3en")]
    assert sizes == sorted(sizes)
    assert len(sizes) == 8


# The rest, and how entries are found.


def test_units_of_tables_round_up() -> None:
    table = catalog().table("dynamodb")
    assert [table.read_units(size) for size in (0, 1, 4096, 4097, 12_289)] == [1, 1, 1, 2, 4]
    assert table.read_units(4097, consistent=False) == 1
    assert [table.write_units(size) for size in (1, 1024, 1025, 4096)] == [1, 1, 2, 4]
    assert (table.partition_reads, table.partition_writes) == (3000, 1000)


def test_object_classes_have_their_prefix_rates_and_least_days() -> None:
    days = {
        name: catalog().object_class(name).min_days
        for name in ("s3-standard", "s3-standard-ia", "s3-glacier-instant", "s3-deep-archive")
    }
    assert days == {"s3-standard": 0, "s3-standard-ia": 30, "s3-glacier-instant": 90, "s3-deep-archive": 180}
    found = catalog().object_class("s3-standard")
    assert (found.writes_per_prefix, found.reads_per_prefix, found.nines) == (3500, 5500, 11)


def test_every_entry_has_a_source_a_date_and_a_name_of_its_own() -> None:
    entries = catalog().services()
    assert len({entry.name for entry in entries}) == len(entries)
    for entry in entries:
        assert entry.source
        assert entry.date
        assert catalog().entry(entry.name) == entry


@pytest.mark.parametrize(
    ("ask", "near"),
    [
        (lambda: catalog().instance("i3n.large"), "i3en.large"),
        (lambda: catalog().volume("gp4"), "gp3"),
        (lambda: catalog().filesystem("efs-burst"), "efs-bursting"),
        (lambda: catalog().object_class("s3-standrd"), "s3-standard"),
        (lambda: catalog().table("dynamo"), "dynamodb"),
        (lambda: catalog().family("i3n"), "i3en"),
        (lambda: catalog().entry("zzzzzz"), "assay catalog list"),
    ],
)
def test_an_unknown_name_is_one_line_with_the_nearest(ask: object, near: str) -> None:
    with pytest.raises(AssayError) as refused:
        ask()  # type: ignore[operator]
    assert near in refused.value.hint
    assert "\n" not in refused.value.message + refused.value.hint


def test_the_catalogue_needs_neither_moto_nor_numpy() -> None:
    code = (
        "import sys; from assay.money.cost.catalog import catalog as c; c().instance('m5.large'); print(*sys.modules)"
    )
    modules = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "assay.money.cost.catalog" in modules
    assert not {"moto", "boto3", "botocore", "numpy"} & set(modules)


def test_an_entry_is_read_once() -> None:
    assert catalog() is catalog()
    assert catalog().instance("m5.large") is catalog().instance("m5.large")
    assert isinstance(catalog().entry("m5.large"), Instance)


def test_each_service_has_what_its_source_says_beside_its_limits() -> None:
    services = catalog().services()
    assert [entry.name for entry in services if not entry.stated] == []
    checked = [entry.checked for entry in services if entry.checked is not None]
    assert len(checked) >= len(services) * 0.45 and min(checked) >= dt.date(2026, 11, 28)
    text = catalog().entry("efs-bursting").source_lines()[-1]
    assert "bytes in the Standard class" in text and text.endswith("(compared with a copy on 2026-11-28)")
    assert catalog().entry("i3en.24xlarge").source_lines()[-1].startswith("Source: ")
