"""What becomes of fio's jobs: operations, parameters, repeats, and what has no counterpart."""

import json

import pytest
from fio_samples import FILE, SAMPLES, changed, read, results_of, text_of

from assay.model.study.names import WORK
from assay.model.study.parameters import DEFINITIONS
from assay.rooms.importers.work import fio
from assay.rooms.importers.work.fio_options import files_of, parameters_of, size_of, time_of
from assay.rooms.importers.work.results import ImportedResult, OutputError

RW = {
    "read": "read",
    "randwrite": "random_write",
    "randrw": "random_mix",
    "rw": "sequential_mix",
    "readwrite": "sequential_mix",
}


def only(name: str) -> ImportedResult:
    (result,) = results_of(name)
    return result


def tallies(name: str) -> list[tuple[str | None, int, int | None]]:
    measured = only(name).measured
    assert measured is not None and measured.status == "failed"
    return [(tally.name, tally.count, tally.code) for tally in measured.errors]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_result_has_an_operation_or_a_reason(name: str) -> None:
    assert fio.recognise(text_of(name))
    for result in results_of(name):
        assert (result.operation in WORK) == (result.measured is not None) == (not result.left_out)
        assert set(result.parameters) <= set(DEFINITIONS)


def test_all_files_of_a_job_are_named_and_counted() -> None:
    place = '"directory" : "/dev/shm/data"'
    names = ", ".join(f'"filename" : "{name}"' for name in ("/d/a", r"/d/b:/d/c\\:0", "/d/e"))
    whole = '"global options" : { "filename" : "/d/g", "bs" : "4k" },\n  "jobs" : ['
    for text, files in ((text_of("3.33-read"), 4), (text_of("3.33-read").replace('"jobs" : [', whole), 5)):
        result = read(text.replace(place, names)).results[0]
        assert result.target == ("/d/g:" if files == 5 else "") + r"/d/a:/d/b:/d/c\:0:/d/e"
        assert len(files_of(result.options)) == files and files_of(result.options)[-2] == "/d/c:0"
        assert result.parameters["record_size"] == 65536 and "file_size" not in result.parameters


def test_options_become_parameters() -> None:
    found = only("3.33-randread-plus").parameters
    assert found == {
        "files": None,
        "hosts": 1,
        "record_size": 4096,
        "queue_depth": 8,
        "lanes": 1,
        "layout": "separate",
        "file_size": 8 << 20,
        "runtime": 10**9,
        "rate": None,
        "cpus": None,
        "verify": False,
    }
    assert only("3.33-randrw-plus").parameters["read_percent"] == 70
    assert only("3.33-rw").parameters["read_percent"] == 50
    assert only("3.33-direct").parameters["cache"] == "direct"


def test_buffered_reads_do_not_say_what_was_in_the_cache() -> None:
    for name in ("3.33-read", "3.33-text-and-json"):
        assert "cache" not in only(name).parameters


def test_global_options_hold_for_each_job_unless_it_has_its_own() -> None:
    first, second = results_of("3.33-sections")
    assert (first.parameters["record_size"], first.parameters["sync"]) == (8192, "o_sync")
    assert (second.parameters["record_size"], second.operation) == (4096, "random_read")
    assert first.options["size"] == second.options["size"] == "4m"


def test_jobs_of_a_group_are_together_or_each_alone() -> None:
    grouped = only("3.33-jobs-grouped")
    assert (grouped.workload, grouped.parameters["lanes"], grouped.operation) == ("w", 4, "random_write")
    each = results_of("3.33-jobs")
    assert [result.workload for result in each] == ["w (1 of 2)", "w (2 of 2)"]
    # The others worked at the same time, so neither 1 nor 2 lanes is the whole truth.
    assert not any("lanes" in result.parameters for result in each)


def test_different_jobs_in_one_group_have_no_counterpart() -> None:
    result = only("3.33-different-jobs-grouped")
    assert result.measured is None and "sum of several jobs" in result.left_out


def test_a_group_with_more_processes_than_numjobs_has_unknown_lanes() -> None:
    whole = changed("3.33-jobs-grouped", "jobs", 0, "write", "runtime", to=2000)
    more = json.loads(whole)
    for runtime, known in ((8000, True), (12000, False)):
        more["jobs"][0]["job_runtime"] = runtime
        assert ("lanes" in read(json.dumps(more)).results[0].parameters) == known


def test_records_of_another_size_than_bs_are_of_another_job() -> None:
    other = changed("3.33-jobs-grouped", "jobs", 0, "write", "io_bytes", to=2048 * 65536)
    assert not {"record_size", "lanes", "file_size"} & set(read(other).results[0].parameters)


def test_a_mix_has_both_kinds_and_their_sum() -> None:
    measured = only("3.33-randrw-plus").measured
    assert measured is not None
    assert [counts.kind for counts in measured.kinds] == ["read", "write"]
    assert measured.bytes == measured.read_bytes + measured.write_bytes == sum(one.bytes for one in measured.kinds)
    # Without bins, percentiles of both together do not follow from those of each.
    without = only("3.33-rw").measured
    assert without is not None and not without.latency and all(one.latency for one in without.kinds)


def test_unified_reporting_is_one_mix() -> None:
    for version in ("2.21", "3.0", "3.42"):
        result = only(f"{version}-unified")
        assert result.measured is not None and result.operation == "random_mix" and not result.measured.kinds
    reads = changed("3.42-unified", "jobs", 0, "job options", "rw", to="randread")
    (result,) = read(reads).results
    assert result.measured is not None and result.measured.read_bytes == result.measured.bytes > 0


def test_trims_are_left_out_with_their_figures() -> None:
    for name, word in (("3.33-trim", "randtrim"), ("3.33-trimwrite", "trimwrite")):
        result = only(name)
        assert result.measured is None and word in result.left_out
        assert {figure.name: figure.text for figure in result.figures}["trim.total_ios"] != "0"


def test_errors_are_failures() -> None:
    assert tallies("3.33-full-device") == [("ENOSPC", 1, 28)]
    assert tallies("3.33-continue-on-error") == [("ENOSPC", 1, 28)]


def test_percentiles_of_lat_come_first_if_fio_prints_them() -> None:
    assert only("3.33-own-percentiles").latency_of == "lat"
    assert only("3.33-read").latency_of == "clat"
    assert only("3.33-without-percentiles").latency_of == "lat"
    without = only("3.33-without-latencies")
    assert without.measured is not None and not without.measured.latency and not without.latency_of


def test_the_start_is_known_where_fio_prints_it() -> None:
    new, old = only("3.42-jobs-grouped").measured, only("3.33-jobs-grouped").measured
    assert new is not None and old is not None
    assert new.started_at is not None and new.started_at > 1.7e9 and old.started_at is None


def test_old_outputs_do_not_say_the_order() -> None:
    result = only("2.2.10-randread")
    assert result.measured is None and "--order" in result.left_out
    for order, operation in (("random", "random_read"), ("sequential", "read")):
        (result,) = results_of("2.2.10-randread", order)  # type: ignore[arg-type]
        assert result.operation == operation and result.parameters == {}
    (mix,) = results_of("2.2.10-rw", "sequential")
    assert mix.operation == "sequential_mix"


def test_an_order_does_not_change_what_the_output_says() -> None:
    (result,) = results_of("3.33-read", "random")
    assert result.operation == "read"


@pytest.mark.parametrize(("rw", "operation"), RW.items())
def test_rw_is_the_operation(rw: str, operation: str) -> None:
    name = "3.33-rw" if "rw" in rw or rw == "readwrite" else "3.33-read" if rw == "read" else "3.33-jobs-grouped"
    (result,) = read(changed(name, "jobs", 0, "job options", "rw", to=rw)).results
    assert result.operation == operation


@pytest.mark.parametrize("rw", ["read:4k", "randrw:8", "nonsense"])
def test_an_order_without_counterpart_is_left_out(rw: str) -> None:
    (result,) = read(changed("3.33-rw", "jobs", 0, "job options", "rw", to=rw)).results
    assert result.left_out == f"rw={rw} has no counterpart"


def test_reads_that_verify_do_not_make_a_sum_of_jobs() -> None:
    document = json.loads(changed("3.33-rw", "jobs", 0, "job options", "rw", to="write"))
    document["jobs"][0]["job options"]["verify"] = "crc32c"
    (result,) = read(json.dumps(document)).results
    assert result.operation == "write" and result.measured is not None
    assert result.measured.read_bytes == 0 and "verify" not in result.parameters


@pytest.mark.parametrize(
    ("text", "base", "size"),
    [
        ("4k", "1024", 4096),
        ("4K", "1024", 4096),
        ("4kb", "1024", 4096),
        ("4ki", "1024", 4096),
        ("4kib", "1024", 4000),
        ("4kib", "1000", 4096),
        ("4k", "1000", 4000),
        ("1g", "1024", 1 << 30),
        ("512", "1024", 512),
        ("50%", "1024", None),
        ("4k-8k", "1024", None),
        ("-4k", "1024", None),
        ("9999999999p", "1024", None),
    ],
)
def test_sizes_are_read_as_fio_reads_them(text: str, base: str, size: int | None) -> None:
    assert size_of(text, base) == size


@pytest.mark.parametrize(
    ("text", "ns"), [("30", 30 * 10**9), ("30s", 30 * 10**9), ("5m", 300 * 10**9), ("500ms", 5 * 10**8), ("x", None)]
)
def test_times_are_read_as_fio_reads_them(text: str, ns: int | None) -> None:
    assert time_of(text) == ns


@pytest.mark.parametrize(
    ("options", "operation", "rate"),
    [
        ({"rate_iops": "100"}, "random_write", 400.0),
        ({"rate_iops": "100,50"}, "random_write", None),
        ({"rate_iops": "100", "thinktime": "5"}, "random_write", None),
        ({"rate_iops": "100"}, "random_mix", None),
    ],
)
def test_the_rate_that_a_job_asks_for_is_that_of_all_its_processes(
    options: dict[str, str], operation: str, rate: float | None
) -> None:
    found = parameters_of({"rw": "randwrite", "numjobs": "4", **options}, operation, lanes_are_known=True)
    assert found.get("rate") == rate


def test_what_options_leave_open_is_missing() -> None:
    options = {"rw": "randwrite", "bsrange": "4k-64k", "size": "50%", "iodepth": "x", "fsync": "32", "rate": "1m"}
    found = parameters_of(options, "random_write", lanes_are_known=True)
    assert not {"record_size", "file_size", "queue_depth", "sync", "rate"} & set(found)
    assert parameters_of({}, "write", lanes_are_known=True)["sync"] == "none"
    assert parameters_of({"bs": "4k,64k"}, "write", lanes_are_known=True)["record_size"] == 65536
    assert "record_size" not in parameters_of({"bs": "4k,64k"}, "random_mix", lanes_are_known=True)
    assert parameters_of({"filename": "/dev/x", "numjobs": "4"}, "read", lanes_are_known=True)["layout"] == "shared"
    assert "file_size" not in parameters_of({"filename": "a:b", "size": "1g"}, "read", lanes_are_known=True)
    assert parameters_of({"rwmixwrite": "30"}, "random_mix", lanes_are_known=True)["read_percent"] == 70


def test_passwords_of_options_are_not_kept() -> None:
    document = json.loads(text_of("3.33-read"))
    document["jobs"][0]["job options"] |= {"http_s3_key": "CANARY", "http_pass": "CANARY"}
    (result,) = read(json.dumps(document)).results
    assert "CANARY" not in result.model_dump_json() and "http_pass" in result.options


def test_several_outputs_in_one_file_are_several() -> None:
    text = text_of("3.33-read") + "\n" + text_of("3.33-rw")
    first, second = fio.read(text, read(text).file)
    assert (first.file.line, second.file.line) == (1, len(text_of("3.33-read").splitlines()) + 2)
    assert second.results[0].operation == "sequential_mix" and (second.results[0].line or 0) > second.file.line


def test_a_job_that_did_nothing_is_left_out() -> None:
    document = json.loads(text_of("3.33-read"))
    for job in document["jobs"]:
        job["read"] |= {"total_ios": 0, "io_bytes": 0}
    assert {result.left_out for result in read(json.dumps(document)).results} == {"no operation was done"}


def test_of_snapshots_of_one_job_the_last_counts() -> None:
    """As `--status-interval` prints them: the same start, and counts that hold those before."""
    text = text_of("3.33-read")
    another, earlier, last = (json.loads(text) for _ in range(3))
    earlier["jobs"][0]["read"]["total_ios"] //= 2
    for name in ("timestamp", "timestamp_ms"):
        another[name] -= 60 * (1000 if name == "timestamp_ms" else 1)
    outputs = fio.read("\n".join(map(json.dumps, (another, earlier, last))), read(text).file)
    assert [output.results[0].measured is not None for output in outputs] == [True, False, True]
    assert "--status-interval" in outputs[1].results[0].left_out


def test_command_lines_in_options_are_not_kept() -> None:
    document = json.loads(text_of("3.33-read"))
    document["jobs"][0]["job options"] |= {"exec_prerun": "mysql -pCANARY"}
    (result,) = read(json.dumps(document)).results
    assert "CANARY" not in result.model_dump_json() and result.options["exec_prerun"] == "(a command)"


def test_results_of_clients_are_refused() -> None:
    text = json.dumps({"fio version": "fio-3.33", "client_stats": []})
    with pytest.raises(OutputError) as refused:
        read(text)
    assert "--client" in refused.value.message


def test_a_job_that_has_ended_counts_once_however_often_it_is_printed() -> None:
    outputs = fio.read(text_of("3.33-status-interval-stonewall"), FILE)
    kept = [(number, one.name) for number, output in enumerate(outputs, 1) for one in output.results if one.measured]
    assert kept == [(len(outputs), "r"), (len(outputs), "w")]
