"""Studies that resemble traces: what they have of them, that each can be run, and what differs."""

from pathlib import Path
from typing import Any

import pytest
from trace_tools import HEAD, packed

from assay.model.base import AssayError
from assay.plan.expand import expand
from assay.plan.load import load_study
from assay.rooms.foreign.work.trace import replay_study, trace_study


def workloads(tmp_path: Path, *records: str, head: str = "") -> tuple[dict[str, Any], str]:
    """The workloads of the study of a trace, which must have cases, and its text."""
    path = tmp_path / "t.trace.gz"
    path.write_bytes(packed("T\t1\t-\t0", *records, **({"head": head} if head else {})))
    text = trace_study(str(path))
    loaded = load_study(text.encode(), str(tmp_path))
    assert loaded.study is not None, loaded.problems
    assert not expand(loaded.study).faults and expand(loaded.study).cases
    import yaml

    return yaml.safe_load(text)["workloads"], text


def op(start: int, name: str, file: int, offset: object = "-", size: object = "-", flags: str = "-") -> str:
    result = size if name in ("read", "write", "get", "put") else 0
    return f"O\t{start}\t1000\t1\t{name}\t{file}\t{offset}\t{size}\t{result}\t{flags}"


def in_order(file: int, name: str, size: int, record: int, start: int) -> list[str]:
    """A file that is read or written from beginning to end."""
    kept = "-" if name == "write" else str(size)
    lines = [f"F\t{file}\tf\t{kept}\tf{file}", op(start, "open", file, flags="r" if name == "read" else "wct")]
    lines += [op(start + 1 + at, name, file, at, min(record, size - at)) for at in range(0, size, record)]
    return [*lines, op(start + size + 1, "close", file)]


def test_files_read_whole_and_files_written_whole_are_sets(tmp_path: Path) -> None:
    lines = [line for n in range(1, 4) for line in in_order(n, "read", 3 * 8192, 8192, n * 10**6)]
    lines += in_order(4, "write", 4096, 4096, 10**7)
    found, text = workloads(tmp_path, *lines)
    assert found == {
        "reads": {
            "operations": ["read"], "total_files": 3, "file_size": "24KiB", "record_size": "8KiB", "lanes": 1,
            "cache": "drop", "sync": "none",
        },
        "writes": {
            "operations": ["write"], "total_files": 1, "file_size": "4KiB", "record_size": "4KiB", "lanes": 1,
            "cache": "drop", "sync": "fsync",
        },
    }  # fmt: skip
    assert "# * flushes: 0 recorded, 1 in each repeat of the study" in text
    assert "bytes read:" not in text and "bytes written:" not in text and "reads:" not in text.split("study:")[0]


def test_what_is_read_again_and_few_large_files_keep_their_bytes(tmp_path: Path) -> None:
    lines = in_order(1, "read", 40_000, 4096, 10**6)
    lines += [line for at in (2, 3) for line in in_order(1, "read", 40_000, 4096, at * 10**6)[1:]]
    lines += [line for n in range(2, 42) for line in in_order(n, "read", 100 + n, 4096, (10 + n) * 10**6)]
    found, text = workloads(tmp_path, *lines)
    large = found["large-reads"]
    assert (large["total_files"], large["file_size"], large["record_size"]) == (3, "40kB", "4KiB")
    assert found["reads"]["total_files"] == 40
    assert "1 file read more than once" in text and "# * bytes read:" not in text and "# * reads:" not in text


@pytest.mark.parametrize(("every", "sync"), [(1, "o_dsync"), (2, "o_dsync"), (50, "fdatasync"), (100, "fdatasync")])
def test_flushes_are_as_near_as_a_study_can_have_them(tmp_path: Path, every: int, sync: str) -> None:
    lines = ["F\t1\tf\t1048576\tdb", op(1, "open", 1, flags="w")]
    for at in range(100):
        lines.append(op(10 + 2 * at, "write", 1, (at * 37 % 256) * 4096, 4096))
        if at % every == 0:
            lines.append(op(11 + 2 * at, "fdatasync", 1))
    found, text = workloads(tmp_path, *lines)
    assert (found["random-writes"]["sync"], found["random-writes"]["total_size"]) == (sync, "400KiB")
    done = 100 if sync == "o_dsync" else 1
    line = f"# * flushes: {-(-100 // every)} recorded, {done} in each repeat of the study"
    assert (line in text) == (-(-100 // every) != done)


def test_records_in_any_order_are_one_file_with_a_share_of_reads(tmp_path: Path) -> None:
    lines = ["F\t1\tf\t1048576\tdb", op(1, "open", 1, flags="rwd")]
    lines += [op(10 + at, "read" if at % 4 else "write", 1, (at * 37 % 64) * 8192, 8192) for at in range(400)]
    lines += [op(1000, "fdatasync", 1), op(1001, "fdatasync", 1), op(1002, "fsync", 1)]
    found, text = workloads(tmp_path, *lines)
    assert found["mix"] == {
        "operations": ["random_mix"], "layout": "shared", "total_size": "3200KiB", "record_size": "8KiB", "lanes": 1,
        "cache": "direct", "sync": "fdatasync", "read_percent": 75,
    }  # fmt: skip
    assert "flushes: 3 recorded, 1 in each repeat" in text and "reads:" not in text.split("study:")[0]


def test_reads_and_writes_of_different_sizes_are_no_mix(tmp_path: Path) -> None:
    lines = ["F\t1\tf\t1048576\tdb", op(1, "open", 1, flags="rw")]
    lines += [op(10 + at, "read", 1, (at * 37 % 64) * 8192, 100) for at in range(30)]
    lines += [op(90 + at, "write", 1, (at * 37 % 64) * 8192, 8192) for at in range(30)]
    found, text = workloads(tmp_path, *lines)
    assert found["random-reads"]["record_size"] == "100B" and found["random-writes"]["record_size"] == "8KiB"
    assert "# * bytes" not in text and "# * reads:" not in text and "# * writes:" not in text


def test_what_is_gone_over_again_and_again_does_not_fill_the_disk(tmp_path: Path) -> None:
    size = 1 << 29
    lines = [f"F\t1\tf\t{size}\ta", f"F\t2\tf\t{size}\tb"]
    for at in range(1, 6):
        lines += [op(10 * at, "open", 1, flags="r"), op(10 * at + 1, "read", 1, 0, size), op(10 * at + 2, "close", 1)]
    lines += [op(100 + at, "read", 2, 4096 * (at * 7 % 8), size // 2) for at in range(12)]
    found, text = workloads(tmp_path, *lines)
    assert (found["reads"]["total_files"], found["reads"]["file_size"]) == (1, "512MiB")
    assert found["random-reads"]["total_size"] == "1GiB"
    assert "1 file read more than once: here once" in text and "5.91 GB recorded, 1.61 GB in each repeat" in text


def test_looks_at_names_are_as_many_as_recorded(tmp_path: Path) -> None:
    lines = [f"F\t{n}\tf\t5\tf{n}" for n in range(1, 11)] + [op(n, "stat", n % 10 + 1) for n in range(1, 31)]
    found, text = workloads(tmp_path, *lines)
    assert found == {"stat": {"operations": ["stat"], "files": 30, "lanes": 1, "cache": "drop"}}
    assert "the program used 10 names" in text and "# * stat:" not in text


def test_directories_are_listed_as_often_and_synchronous_writes_are_flushes(tmp_path: Path) -> None:
    lines = ["F\t1\td\t-\td", "F\t2\tf\t-\tlog", op(1, "open", 2, flags="wcs")]
    lines += [op(10 + at, "list", 1) for at in range(8)] + [op(30 + at, "write", 2, at * 50, 50) for at in range(9)]
    found, text = workloads(tmp_path, *lines)
    assert found["readdir"] == {
        "operations": ["readdir"], "files": 4, "lanes": 1, "depth": 1, "width": 4, "cache": "drop",
    }  # fmt: skip
    assert found["writes"]["sync"] == "o_dsync" and "recorded," not in text


def test_a_file_that_tasks_write_in_turn_is_written_from_beginning_to_end(tmp_path: Path) -> None:
    first = ["F\t1\tf\t-\tout", op(1, "open", 1, flags="wc"), op(2, "write", 1, 0, 500)]
    found, _ = workloads(
        tmp_path, *first, "T\t2\t1\t3", op(4, "write", 1, 500, 500).replace("\t1\twrite", "\t2\twrite")
    )
    assert (found["writes"]["file_size"], found["writes"]["record_size"]) == ("1kB", "500B")


def test_objects_are_a_mix_at_their_rate(tmp_path: Path) -> None:
    lines = ["F\t1\to\t4096\ta", "F\t2\to\t-\tb"]
    lines += [op(at * 10**6, "put" if at % 4 == 0 else "get", 2 if at % 4 == 0 else 1, 0, 4096) for at in range(101)]
    found, text = workloads(tmp_path, *lines, head='{"assay_trace":1,"source":"warp"}')
    assert found["objects"] == {
        "operations": ["object_mix"], "objects": 2, "lanes": 1, "object_size": "4KiB",
        "mix": {"get": 74, "put": 26}, "rate": "1010/s", "runtime": "100ms",
    }  # fmt: skip
    assert "# * reads:" not in text and "# * bytes read: 307 kB recorded, 306 kB in each repeat" in text
    assert "bucket: assay-trace" in text


def test_requests_to_a_device_pass_the_page_cache(tmp_path: Path) -> None:
    lines = ["F\t1\tb\t10000000000\tsda"] + [op(at, "read", 1, (at * 7919 % 1000) * 512, 512) for at in range(90)]
    found, text = workloads(tmp_path, *lines, head='{"assay_trace":1,"source":"blkparse"}')
    assert (found["random-reads"]["cache"], found["random-reads"]["record_size"]) == ("direct", "4KiB")
    assert "a file stands for them, since all that is on a device would be lost" in text


def test_many_sizes_become_few_and_losses_are_listed(tmp_path: Path) -> None:
    lines = [line for n in range(1, 41) for line in in_order(n, "read", 1000 + 333 * n, 65536, n * 10**6)]
    lines += [op(10**8, "rename", 1, flags=">2")]
    head = '{"assay_trace":1,"source":"strace","command":["p","--password=hush"],"losses":[{"code":"mmap","count":3}]}'
    found, text = workloads(tmp_path, *lines, head=head)
    sizes = found["reads"]["file_sizes"]
    assert sum(sizes.values()) == 40 and len(sizes) <= 12
    assert "bytes read:" not in text
    assert "3 mappings of files into memory" in text and "* rename: left out: 1 operation" in text
    assert "hush" not in text


def test_a_trace_without_work_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="it reads and writes nothing"):
        workloads(tmp_path)


def test_a_study_may_replay_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.trace.gz"
    for head, pace in ((HEAD, "recorded"), (HEAD[:-1] + ',"losses":[{"code":"no-times","count":1}]}', "fast")):
        path.write_bytes(packed("T\t1\t-\t0", *in_order(1, "read", 8192, 4096, 0), head=head))
        for folder, name in ((tmp_path, "t.trace.gz"), (tmp_path / "other", str(path))):
            study = load_study(replay_study(str(path), folder).encode(), folder=str(folder)).study
            assert study is not None and expand(study).cases
            (work,) = study.workloads.values()
            assert work.replay is not None and work.replay.replay.path == str(path), name
            assert work.pace.values() == (pace,)


def test_requests_for_objects_are_not_replayed(tmp_path: Path) -> None:
    path = tmp_path / "t.trace.gz"
    path.write_bytes(packed("F\t1\to\t5\ta", "T\t1\t-\t0", op(1, "get", 1, 0, 5)))
    with pytest.raises(AssayError, match="requests for objects are not replayed"):
        replay_study(str(path), tmp_path)
