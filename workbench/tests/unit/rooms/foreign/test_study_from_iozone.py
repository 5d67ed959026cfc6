"""`assay study from iozone`: command lines become the studies that ask the same, or are refused."""

from typing import Any, NamedTuple

import pytest
import yaml

from assay.model.base import AssayError
from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.load import load_study
from assay.rooms.foreign.work.iozone.options import OPTIONS
from assay.rooms.foreign.work.iozone.study import iozone_study

ALL = ["write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read", "record_rewrite"]
ALL += ["stride_read"]
STDIO = ["fwrite", "re_fwrite", "fread", "re_fread"]
TO_512M = {"from": "64KiB", "to": "512MiB", "factor": 2}
TO_16M = {"from": "4KiB", "to": "16MiB", "factor": 2}


class Example(NamedTuple):
    """A command line, the fields expected of its first workload, the operations of all, and what the head names."""

    line: str
    fields: dict[str, Any]
    operations: tuple[list[str], ...]
    noted: tuple[str, ...] = ()
    study: dict[str, Any] = {}  # noqa: RUF012


EXAMPLES = {
    # The documentation of iozone, its first examples.
    "auto": Example(
        "iozone -a", {"file_size": TO_512M, "record_size": TO_16M, "where": "record_size <= file_size", "sync": "none",
                      "cache": "keep", "method": "sync", "lanes": 1},
        (ALL, STDIO), ("cache: keep", "sync: none"),
    ),
    "auto-large": Example(
        "iozone -Ra -g 2G -i 0 -i 1",
        {"file_size": {"from": "64KiB", "to": "2GiB", "factor": 2}, "record_size": TO_16M},
        (ALL[:4],),
    ),
    "auto-full": Example("./iozone -az -i 0 -i 1", {"exclude": None, "record_size": TO_16M}, (ALL[:4],)),
    "crossover": Example(
        "iozone -a -g 64m -i 0",
        {"exclude": {"small-records-of-large-files": {
            "when": "file_size > 16MiB and record_size < 64KiB",
            "why": "iozone -a leaves them out beyond 16 MiB; with -z it takes them"}}}, (ALL[:2],),
    ),
    "bounded": Example(
        "iozone -a -s 1g -y 4k -q 1m -f /mnt/t/f -b out.xls",
        {"file_size": "1GiB", "record_size": {"from": "4KiB", "to": "1MiB", "factor": 2}, "where": None},
        (ALL, STDIO), study={"targets": {"place": {"kind": "file", "path": "/mnt/t/assay-iozone"}}},
    ),
    # Advice for file systems with O_DIRECT, and fsync within the timing.
    "direct": Example(
        "sudo iozone -e -I -a -s 100M -r 4k -r 16k -r 512k -r 1024k -r 16384k -i 0 -i 1 -i 2",
        {"file_size": "100MiB", "record_size": ["4KiB", "16KiB", "512KiB", "1MiB", "16MiB"], "cache": "direct",
         "sync": "fsync"}, (ALL[:6],),
    ),
    "single": Example("iozone -s 4096 -r 64 -i 0", {"file_size": "4MiB", "record_size": "64KiB"}, (ALL[:2],)),
    "defaults": Example("iozone -i 1", {"file_size": "512KiB", "record_size": "4KiB"}, (["read", "reread"],),
                        ("no -i 0",)),
    "threads": Example(
        "iozone -t 4 -s 1g -r 1m -i 0 -i 1 -F /mnt/a/1 /mnt/b/1 /mnt/a/2 /mnt/b/2 -+n",
        {"lanes": 4, "file_size": "1GiB"}, (["write", "read"],), ("-t",),
        {"targets": {"place": {"kind": "file", "path": "/mnt/a/assay-iozone", "shares": ["/mnt/b/assay-iozone"]}}},
    ),
    "growing": Example(
        "iozone -l 1 -u 8 -r 16k -s 512M -i 0 -i 2 -R -c", {"lanes": {"from": 1, "to": 8, "step": 1}},
        (["write", "rewrite", "random_read", "random_write"],), ("-c",),
    ),
    "all-of-throughput": Example(
        "iozone -t 2 -s 64m -r 64k", {"read_percent": 50},
        (["write", "rewrite", "read", "reread", "backward_read", "stride_read", "random_read", "random_mix",
          "random_write"], ["fwrite", "fread"]),
    ),
    "aggregate": Example("iozone -t 8 -s 8g -r 1m -+k -i 0", {"total_size": "8GiB", "lanes": 8}, (ALL[:2],)),
    "mmap": Example("iozone -B -G -i 0 -i 1 -s 64m -r 4k",
                    {"method": "mmap", "cache": "keep"}, (ALL[:4],), ("-D, -G",)),
    "async": Example("iozone -H 8 -i 2 -s 64m -r 4k -I", {"method": "threads", "queue_depth": 8}, (ALL[4:6],)),
    "o-sync": Example("iozone -o -i 0 -s 10m -r 4k -w", {"sync": "o_sync"}, (ALL[:2],), (),
                      {"output": {"keep_files": True}}),
    "o-dsync": Example("iozone -+D -i 0 -s 10m -r 4k", {"sync": "o_dsync"}, (ALL[:2],)),
    "stride": Example("iozone -i 5 -j 5 -s 10m -r 4k", {"stride": 5}, (["stride_read"],)),
    "verify": Example("iozone -V 7 -i 0 -i 1 -s 10m -r 4k -P 1", {"verify": True, "cpus": "1"}, (ALL[:4],)),
    "unit-of-record": Example("iozone -E -i 0 -i 10 -i 1 -s1g -r1m", {"record_size": "1MiB"}, (ALL[:4],), ("-i 10",)),
    "auto2": Example("iozone -A -g 1m", {"exclude": None}, (ALL[:4],)),
    "factor": Example("iozone -a -+x 4 -n 1m -g 16m -y 64k -q 64k -i 0",
                      {"file_size": {"from": "1MiB", "to": "16MiB", "factor": 4}, "record_size": "64KiB"}, (ALL[:2],)),
}  # fmt: skip
REFUSED = {
    "iozone -i 11 -s 1m": "pwritev",
    "iozone -K -i 1": "-K",
    "iozone -J 5 -i 0": "-J 5",
    "iozone -a -t 4": "-t takes neither",
    "iozone -r 32m -s 1g": "16 MiB",
    "iozone -r 1m -s 512k": "larger than the file",
    "iozone -= 5": "no option -=",
    "iozone -s 1x": "not a size",
    "iozone -s": "lacks its value",
    "iozone -h": "prints help",
    "iozone -i 0 -f /dev/sdb": "device",
    "iozone -i 0 ; rm x": "shell syntax",
}


def converted(line: str) -> str:
    return iozone_study(line, lambda path: f"# clients\nn1 /mnt /bin/iozone {path}\nn1 /mnt /bin/iozone\n"
                        "n2 /mnt /bin/iozone\nn2 /mnt /bin/iozone\n")  # fmt: skip


@pytest.mark.parametrize("item", EXAMPLES.values(), ids=EXAMPLES)
def test_real_lines_become_the_studies_that_ask_the_same(item: Example) -> None:
    text = converted(item.line)
    study = yaml.safe_load(text)
    found = list(study["workloads"].values())
    assert tuple(workload["operations"] for workload in found) == item.operations
    assert {name: found[0].get(name) for name in item.fields} == item.fields
    assert {name: study.get(name) for name in item.study} == item.study
    head = text[: text.index("\nstudy:")]
    assert [word for word in item.noted if f"* {word}" not in head] == []


@pytest.mark.parametrize("item", EXAMPLES.values(), ids=EXAMPLES)
def test_studies_can_be_planned(item: Example) -> None:
    loaded = load_study(converted(item.line).encode(), "/tmp")
    assert loaded.study is not None, loaded.problems
    expansion = expand(loaded.study)
    assert not expansion.faults
    for case in expansion.cases[:20]:
        plan_job(loaded.study, case, 1)


@pytest.mark.parametrize(("line", "word"), REFUSED.items())
def test_what_has_no_counterpart_is_refused_by_name(line: str, word: str) -> None:
    with pytest.raises(AssayError) as caught:
        converted(line)
    assert word in str(caught.value)


def test_backward_reads_of_iozone_come_twice_and_words_that_are_no_options_do_nothing() -> None:
    text = converted("iozone -i 0 -i 3 -s 1m /tmp")
    assert "# * -i 3: read backward once" in text
    assert "# * /tmp: left out" in text
    assert "-i 3:" not in converted("iozone -i 0 -i 3 -s 1m -+n")


def test_a_new_mount_before_each_test_empties_the_cache() -> None:
    text = converted("iozone -U /mnt/x -i 0 -i 1 -s 1m -f /mnt/x/f")
    assert yaml.safe_load(text)["workloads"]["iozone"]["cache"] == "drop"
    assert "cache: keep" not in text


def test_auto_mode_has_iozones_own_grid() -> None:
    loaded = load_study(converted("iozone -a -i 0 -g 32m").encode(), "/tmp")
    assert loaded.study is not None
    grid = {(case.parameters.file_size, case.parameters.record_size) for case in expand(loaded.study).cases}
    sizes = [1 << power for power in range(16, 26)]
    records = [1 << power for power in range(12, 25)]
    assert grid == {
        (size, record)
        for size in sizes
        for record in records
        if record <= size and (size <= 16 << 20 or record >= 64 << 10)
    }


def test_clients_become_hosts() -> None:
    study = yaml.safe_load(converted("iozone -+m clients -t 4 -i 0 -s 1m"))
    assert (study["hosts"], study["workloads"]["iozone"]["hosts"], study["workloads"]["iozone"]["lanes"]) == (
        ["n1", "n2"],
        2,
        2,
    )
    assert study["targets"]["place"]["path"] == "/mnt/assay-iozone"


@pytest.mark.parametrize(
    ("line", "path"),
    [("-+m c -t 2 -F a/1 a/2", "/mnt/n/a"), ("-+m c -t 2 -F /z/1 /z/2", "/z"), ("-+m c -t 2 -i 0", "/mnt/n")],
)
def test_files_of_clients_are_where_these_start(line: str, path: str) -> None:
    study = yaml.safe_load(iozone_study(f"iozone {line}", lambda _: "a /mnt/n /bin/iozone\nb /mnt/n /bin/iozone\n"))
    assert study["targets"]["place"]["path"] == f"{path}/assay-iozone"


@pytest.mark.parametrize(
    ("clients", "words"),
    [("a /m\nb /n\n", "several directories: /m /n"), ("a /m\n", "has 1 lines"), ("a /m\na /m\nb /m\n", "equally")],
)
def test_clients_that_one_target_cannot_have_are_refused(clients: str, words: str) -> None:
    with pytest.raises(AssayError, match=words):
        iozone_study(f"iozone -+m c -t {2 if len(clients) < 12 else 3} -i 0", lambda _: clients)


HELP = "aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ"
PLUS = "abBcdDEFhHijJkKlLmnNOpPqrsStTuUVwWxXyzZACz"


def test_every_option_of_the_help_has_an_entry() -> None:
    assert [letter for letter in HELP if letter not in OPTIONS] == []
    assert [letter for letter in PLUS if letter not in "j" and f"+{letter}" not in OPTIONS] == []
