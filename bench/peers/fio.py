"""fio, Debian's and the newest: its job figures, and its CPU time without its start-up of 0.15 s."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from model import Contender, Done, Sample, Setting, Step, Steps

START_UP = 0.4
BASE = ("--name=bench", "--thread", "--output-format=json")


def figures(done: Done, side: str = "read") -> Sample:
    """Rates, latency and CPU time of the (only) group of jobs."""
    group = json.loads(done.output[done.output.index("{") :])["jobs"][0]
    if group["error"]:
        raise ValueError(f"error {group['error']}")
    part = group[side]
    ops, seconds = part["total_ios"], part["runtime"] / 1e3
    cpu_us = (group["usr_cpu"] + group["sys_cpu"]) / 100 * group["job_runtime"] * 1e3 / ops
    sample = {
        "ops": ops,
        "bytes": part["io_bytes"],
        "cpu_us": cpu_us,
        "cpu_ns": cpu_us * 1e3,
        "ops_per_s": part["iops"],
        "mops_per_s": part["iops"] / 1e6,
        "mb_per_s": part["io_bytes"] / 1e6 / seconds,
        "gb_per_s": part["io_bytes"] / 1e9 / seconds,
    }
    return sample | _latency(part)


def _latency(part: dict[str, Any]) -> Sample:
    """Mean from submission, percentiles from issue (`clat`), or from submission too where `lat_percentiles` is set."""
    if part["lat_ns"]["mean"] <= 0:
        return {}
    sample = {"mean_us": part["lat_ns"]["mean"] / 1e3}
    clat = part["clat_ns"].get("percentile", {})
    percentiles = part["lat_ns"].get("percentile", clat)
    for name, found, key in (
        ("p50_us", percentiles, "50.000000"),
        ("p99_us", percentiles, "99.000000"),
        ("clat_p50_us", clat, "50.000000"),
    ):
        if found.get(key):
            sample[name] = found[key] / 1e3
    return sample


def runs(
    words: Callable[[Setting], list[str]],
    tool: str = "fio",
    key: str | None = None,
    label: str | None = None,
    side: str = "read",
    seconds: float | None = None,
    against: str | None = None,
) -> Contender:
    """One job of fio on its command line, as a thread."""

    def steps(setting: Setting) -> Steps:
        argv = [setting.tool(tool), *BASE, *words(setting)]
        yield Step(argv, lambda done: figures(done, side))

    return Contender(key or tool, label or tool, steps, seconds=seconds, overhead=START_UP, against=against)


def timed(setting: Setting) -> list[str]:
    """Run by time, over the file again and again."""
    return ["--time_based", f"--runtime={int(setting.seconds * 1e3)}ms"]


def reads(engine: str, *extra: str, **more: str | None) -> Contender:
    """Random 4 KiB reads of the common file, which stays in the page cache."""

    def words(setting: Setting) -> list[str]:
        base = [f"--filename={setting.file}", "--invalidate=0", "--rw=randread", "--bs=4k", "--size=1g"]
        return [*base, f"--ioengine={engine}", *extra, *timed(setting)]

    return runs(words, **more)


def ring(depth: int) -> Contender:
    """The bare io_uring loop that comes with fio, `t/io_uring`; it reports once a second, so it runs for two."""

    def parse(done: Done) -> Sample:
        number, suffix = re.search(r"Maximum IOPS=([\d.]+)([KM]?)", done.output).groups()
        rate = float(number) * {"": 1, "K": 1e3, "M": 1e6}[suffix]
        return {"ops_per_s": rate, "cpu_us": done.cpu_s * 1e6 / (rate * done.wall_s)}

    def steps(setting: Setting) -> Steps:
        words = [f"-d{depth}", f"-s{depth}", f"-c{depth}", "-b4096", "-p0", "-B0", "-F1", "-O0", "-n1", "-R1", "-r2"]
        yield Step([setting.tool("fio-t-io_uring"), *words, str(setting.file)], parse)

    return Contender("fio-ring", "fio t/io_uring", steps, seconds=2.0)


def null(*extra: str, rw: str = "randread", **more: str | None) -> Contender:
    """Operations that go nowhere."""
    side = "write" if "write" in rw else "read"
    return runs(
        lambda setting: ["--ioengine=null", f"--rw={rw}", "--bs=4k", "--size=1g", *extra, *timed(setting)],
        side=side,
        **more,
    )


def names(root: Callable[[Setting], str], count: int) -> Contender:
    """Create, stat and delete empty files, which each need an engine and a run of their own."""

    def steps(setting: Setting) -> Steps:
        # Without these options fio writes into the files first, keeps them open, and finds the next one ever slower.
        files = [f"--nrfiles={count}", "--filesize=4k", "--create_on_open=1", "--openfiles=1"]
        files += ["--fallocate=none", "--file_service_type=sequential", f"--directory={root(setting)}"]
        # Names like those of the others: their length has a price. No fadvise on what is only looked at.
        files += ["--filename_format=f0.$filenum", "--fadvise_hint=0"]
        for engine, name, extra in (
            ("create", "create", []),
            ("stat", "stat", []),
            ("delete", "unlink", ["--unlink=0"]),
        ):
            argv = [setting.tool("fio"), *BASE, f"--ioengine=file{engine}", *files, *extra]
            yield Step(argv, lambda done, name=name: {f"{name}_per_s": figures(done)["ops_per_s"]})

    return Contender("fio", "fio file engines", steps, seconds=1.0, overhead=3 * START_UP)
