"""`assay study from fio`: job files and command lines become the studies that ask the same, or are refused."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from fio_examples import EXAMPLES, Example

from assay.model.base import AssayError
from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.load import load_study
from assay.rooms.foreign.work.fio.engines import ENGINES
from assay.rooms.foreign.work.fio.options import OPTIONS, SECRETS, canonical
from assay.rooms.foreign.work.fio.study import fio_study

WORKED = {name: item for name, item in EXAMPLES.items() if not item.refused}
REFUSED = {name: item for name, item in EXAMPLES.items() if item.refused}


def read(path: str) -> str:
    """The text of a file, or the error of one that cannot be read."""
    try:
        return Path(path).read_text()
    except (OSError, ValueError):
        raise AssayError(f"{path}: cannot be read", "") from None


def converted(text: str, tmp_path: Path) -> str:
    """The study of a command line, or of a job file with this text."""
    if not text.startswith(("[", ";")) and "\n[" not in text:
        return fio_study(text, read)
    (tmp_path / "job.fio").write_text(text)
    return fio_study(str(tmp_path / "job.fio"), read)


@pytest.mark.parametrize("item", WORKED.values(), ids=WORKED)
def test_real_jobs_become_the_studies_that_ask_the_same(item: Example, tmp_path: Path) -> None:
    text = converted(item.text, tmp_path)
    study: dict[str, Any] = yaml.safe_load(text)
    found = list(study["workloads"].values())
    assert [{key: got.get(key) for key in want} for got, want in zip(found, item.workloads, strict=True)] == list(
        item.workloads
    )
    head = text[: text.index("\nstudy:")]
    assert [word for word in item.noted if word not in head] == []
    if item.target is not None:
        target = next(iter(study["targets"].values()))
        assert {key: target.get(key) for key in item.target} == item.target


@pytest.mark.parametrize("item", REFUSED.values(), ids=REFUSED)
def test_what_has_no_counterpart_is_refused_by_name(item: Example, tmp_path: Path) -> None:
    with pytest.raises(AssayError) as caught:
        converted(item.text, tmp_path)
    assert item.refused in str(caught.value)


@pytest.mark.parametrize("item", WORKED.values(), ids=WORKED)
def test_studies_can_be_planned(item: Example, tmp_path: Path) -> None:
    loaded = load_study(converted(item.text, tmp_path).encode(), "/tmp")
    assert loaded.study is not None, loaded.problems
    expansion = expand(loaded.study)
    assert not expansion.faults
    for case in expansion.cases:
        plan_job(loaded.study, case, 1)


GOLDEN = Path(__file__).resolve().parents[3] / "golden/foreign/fio-3.42-options.txt"


def test_every_option_of_fio_has_an_entry() -> None:
    names = [line for line in GOLDEN.read_text().splitlines() if not line.startswith("#")]
    assert len(names) > 370
    assert [name for name in names if canonical(name) not in OPTIONS] == []
    assert [name for name, option in OPTIONS.items() if not option.text] == []


def test_every_engine_of_fio_becomes_a_target_or_is_refused() -> None:
    for name, engine in ENGINES.items():
        line = (
            f"fio --name=j --ioengine={name} --rw=read --bs=4k --size=64k --nfs_url=nfs://s/x --http_mode=s3"
            " --filename=/b/k"
        )
        if engine.place:
            assert yaml.safe_load(fio_study(line, str))["workloads"]["j"]["operations"]
        else:
            with pytest.raises(AssayError, match=f"ioengine={name}: there is no counterpart: "):
                fio_study(line, str)


def test_secrets_are_shown_nowhere(tmp_path: Path) -> None:
    options = "".join(f"{name}=T0pSecret\n" for name in sorted(SECRETS - {"rbd_encryption_passphrase"}))
    job = f"[j]\nioengine=http\nhttp_mode=s3\nfilename=/b/k\nbs=4k\nsize=64k\nrw=write\n{options}"
    line = " ".join(f"--{part}" for part in job.split("\n")[1:] if part)
    for text in (converted(job, tmp_path), fio_study(f"fio --name=j {line}", str)):
        assert "T0pSecret" not in text
        assert "http_s3_key" in text
    spaced = " ".join(f"--{name} 'T0p Secret'" for name in sorted(SECRETS))
    assert "T0p" not in fio_study(f"fio --name=j --rw=read --size=1m {spaced}", str)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[global]\nbs=4k\n[a]\nrw=read\nsiez=1m\n", "job.fio:5: fio has no option 'siez'"),
        ("bs=4k\n[a]\n", "job.fio:1: 'bs=4k' stands before the first section"),
        ("[a]\nbs\n", "job.fio:2: bs lacks its value"),
        ("[a]\nsize=${NO_SUCH_VARIABLE}\n", "job.fio:2: size=${NO_SUCH_VARIABLE}: the variable NO_SUCH_VARIABLE"),
        ("[a]\nnumjobs=$ncpus\n", "job.fio:2: numjobs=$ncpus: $ncpus is another on each machine"),
        ("[a]\nsize=1m\nrw=read\nfsync=8\n[b]\nrw=write\nsize=1m\nfsync=8\nstonewall\n", "job.fio:8: job b: fsync=8"),
        ("[a]\nsize=1m\nrw=randread\nio_size=64k\n", "job.fio:4: job a: io_size=64k: 16 blocks of 256"),
        ("[a]\nsize=1m\nnumjobs=4\nfilename=/x/f\n", "job.fio:3: job a: numjobs=4: 4 jobs each go over"),
        ("[global]\nsize=1m\n", "there is no job"),
        ("[a]\ninclude job.fio\n", "a section in an included file"),
    ],
)
def test_errors_name_the_line(text: str, where: str, tmp_path: Path) -> None:
    with pytest.raises(AssayError) as caught:
        converted(text, tmp_path)
    assert where in str(caught.value)


def test_an_include_beside_the_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "more.inc").write_text("bs=64k ; large\niodepth=4\n")
    text = converted("[a]\nsize=1m\nioengine=io_uring\ninclude more.inc\nrw=randread\n", tmp_path)
    workload = yaml.safe_load(text)["workloads"]["a"]
    assert (workload["record_size"], workload["queue_depth"]) == ("64KiB", 4)


def test_clients_become_hosts(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[a]\nsize=1m\nrw=read\n")
    job = tmp_path / "job.fio"
    study = yaml.safe_load(fio_study(f"fio --client=n1 {job} --client=n2,8765 {job}", lambda _path: job.read_text()))
    assert (study["hosts"], study["workloads"]["a"]["hosts"]) == (["n1", "n2"], 2)


def test_damaged_jobs_are_refused_and_never_crash(tmp_path: Path) -> None:
    random = Random(1)
    texts = [item.text for item in EXAMPLES.values()]
    for _ in range(150):
        text = list(random.choice(texts))
        for _ in range(random.randint(1, 4)):
            at = random.randrange(len(text))
            text[at : at + random.randint(0, 5)] = random.choice(["", "9" * 30, "=", ":", "%", "\x00", "²", "[", "\n"])
        try:
            loaded = load_study(converted("".join(text), tmp_path).encode(), "/tmp")
        except AssayError:
            continue
        assert loaded.study is not None or loaded.problems


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ("--rw=randrw --rate_iops=100", {"rate": "200/s"}),
        ("--rw=read --bs=4k --rate=1m --numjobs=2", {"rate": "512/s"}),
        ("--rw=write --time_based", {"runtime": None, "time_limit": None}),
        ("--rw=randread --bs=4k,64k", {"record_size": "4KiB"}),
        ("--rw=randwrite --bs=4k,64k", {"record_size": "64KiB"}),
        ("--rw=read --bs=1MiB --kb_base=1000 --size=4MiB", {"record_size": "1MiB", "file_size": "4MiB"}),
        ("--rw=read --bs=4KiB --size=4MiB", {"record_size": "4kB", "file_size": "4MB"}),
        ("--rw=read --ioengine=io_uring --hipri --sqthread_poll=1 --direct=1", {"iopoll": True, "sqpoll": True}),
        ("--rw=read --ioengine=psync --iodepth=32", {"queue_depth": None}),
        ("--rw=read --exec_prerun='echo 3 > /proc/sys/vm/drop_caches'", {"cache": "drop"}),
        ("--rw=read --invalidate=0", {"cache": "keep"}),
        ("--rw=read --buffered=0", {"cache": "direct"}),
        ("--rw=write --fallocate=none", {"preallocate": None}),
        ("--rw=write", {"preallocate": True}),
        ("--rw=read --cpumask=5", {"cpus": "0,2"}),
        ("--rw=read --mem=mmaphuge --numa_mem_policy=bind:1", {"huge_pages": True, "numa_node": 1}),
        ("--rw=randread --runt=20 --time_based", {"runtime": "20s"}),
        ("--rw=rw --rwmixwrite=30", {"operations": ["sequential_mix"], "read_percent": 70}),
        ("--rw=read --filesize=4k-64k --nrfiles=9 --bs=4k", {"file_sizes": "uniform 4KiB..64KiB", "files": 9}),
    ],
)
def test_options_become_fields(options: str, fields: dict[str, Any]) -> None:
    line = f"fio --name=j {'' if '--size' in options else '--size=64m'} {options}"
    workload = yaml.safe_load(fio_study(line, str))["workloads"]["j"]
    assert {name: workload.get(name) for name in fields} == fields


def test_files_of_one_name_in_several_directories_are_files_of_their_own(tmp_path: Path) -> None:
    text = "[global]\nsize=1m\nrw=read\nfilename=f\n[a]\ndirectory=/a\n[b]\ndirectory=/b\n"
    study = yaml.safe_load(converted(text, tmp_path))
    assert study["targets"]["place"]["shares"] == ["/b/assay-fio"]
    assert (study["workloads"]["a"]["layout"], study["workloads"]["a"]["lanes"]) == ("separate", 2)


def test_every_file_name_adds_files(tmp_path: Path) -> None:
    text = "[global]\nsize=4m\nrw=read\nfilename=/d/g\n[a]\nfilename=/d/a\nfilename=/d/b:/d/c\n"
    workload = yaml.safe_load(converted(text, tmp_path))["workloads"]["a"]
    assert (workload["files"], workload["file_size"]) == (4, "1MiB")
    line = yaml.safe_load(fio_study("fio --name=a --filename=/d/a --filename=/d/b --size=4m", str))
    assert (line["workloads"]["a"]["files"], line["workloads"]["a"]["file_size"]) == (2, "2MiB")


def test_a_device_that_must_not_be_written_is_refused() -> None:
    with pytest.raises(AssayError, match="readonly"):
        fio_study("fio --readonly --name=a --filename=/dev/sdx --size=1g --rw=randread --bs=4k", lambda path: path)


def test_jobs_on_one_file_that_end_with_it_say_that_fio_does_more() -> None:
    line = "fio --name=a --filename=f --size=1g --rw=randread --bs=4k --numjobs=4 --runtime=60"
    head = fio_study(line, lambda path: path)
    assert "they end after 1.07 GB, fio's after 4.29 GB" in head
    assert "as often" not in head
    assert "as often" in fio_study(f"{line} --time_based", lambda path: path)
