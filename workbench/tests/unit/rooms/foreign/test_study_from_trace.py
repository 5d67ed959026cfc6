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


def test_files_read_and_written_whole_are_a_set(tmp_path: Path) -> None:
    lines = [line for n in range(1, 4) for line in in_order(n, "read", 3 * 8192, 8192, n * 10**6)]
    lines += in_order(4, "write", 4096, 4096, 10**7)
    found, text = workloads(tmp_path, *lines)
    assert found == {
        "files": {
            "operations": ["file_mix"], "total_files": 4, "file_sizes": {"4KiB": 1, "24KiB": 3},
            "mix": {"read": 75, "write": 25}, "record_size": "8KiB", "lanes": 1, "cache": "keep", "sync": "none",
        }
    }  # fmt: skip
    assert "# * mix: by numbers of files; the program read 73.7 kB and wrote 4.1 kB" in text


def test_records_in_any_order_are_one_file_with_a_share_of_reads(tmp_path: Path) -> None:
    lines = ["F\t1\tf\t1048576\tdb", op(1, "open", 1, flags="rwd")]
    lines += [op(10 + at, "read" if at % 4 else "write", 1, (at * 37 % 64) * 8192, 8192) for at in range(400)]
    lines += [op(1000, "fdatasync", 1), op(1001, "fdatasync", 1), op(1002, "fsync", 1)]
    found, text = workloads(tmp_path, *lines)
    assert found["parts"] == {
        "operations": ["random_mix"], "layout": "shared", "total_size": "1MiB", "read_percent": 75,
        "record_size": "8KiB", "lanes": 1, "cache": "direct", "sync": "fdatasync",
    }  # fmt: skip
    assert "the program did 1 fsync and 2 fdatasync in 100 writes" in text


def test_looks_at_names_are_a_workload_of_their_own(tmp_path: Path) -> None:
    lines = [f"F\t{n}\tf\t5\tf{n}" for n in range(1, 11)] + [op(n, "stat", n) for n in range(1, 11)]
    assert workloads(tmp_path, *lines)[0] == {
        "names": {"operations": ["stat"], "files": 10, "lanes": 1, "sync": "none"}
    }


def test_objects_are_a_mix_at_their_rate(tmp_path: Path) -> None:
    lines = ["F\t1\to\t4096\ta", "F\t2\to\t-\tb"]
    lines += [op(at * 10**6, "put" if at % 4 == 0 else "get", 2 if at % 4 == 0 else 1, 0, 4096) for at in range(101)]
    found, text = workloads(tmp_path, *lines, head='{"assay_trace":1,"source":"warp"}')
    assert found["objects"] == {
        "operations": ["object_mix"], "objects": 2, "lanes": 1, "object_size": "4KiB",
        "mix": {"get": 74, "put": 26}, "rate": "1010/s",
    }  # fmt: skip
    assert "bucket: assay-trace" in text


def test_requests_to_a_device_pass_the_page_cache(tmp_path: Path) -> None:
    lines = ["F\t1\tb\t10000000000\tsda"] + [op(at, "read", 1, (at * 7919 % 1000) * 512, 512) for at in range(90)]
    found, text = workloads(tmp_path, *lines, head='{"assay_trace":1,"source":"blkparse"}')
    assert (found["parts"]["cache"], found["parts"]["record_size"]) == ("direct", "4KiB")
    assert "a file stands for them, since all that is on a device would be lost" in text


def test_many_sizes_become_few_and_losses_are_listed(tmp_path: Path) -> None:
    lines = [line for n in range(1, 41) for line in in_order(n, "read", 1000 + 333 * n, 65536, n * 10**6)]
    lines += [op(10**8, "rename", 1, flags=">2")]
    head = '{"assay_trace":1,"source":"strace","command":["p","--password=hush"],"losses":[{"code":"mmap","count":3}]}'
    found, text = workloads(tmp_path, *lines, head=head)
    sizes = found["files"]["file_sizes"]
    assert sum(sizes.values()) == 40 and len(sizes) <= 12
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
