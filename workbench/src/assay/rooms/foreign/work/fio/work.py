"""Converts a job of fio to the fields of a workload."""

from collections.abc import Collection
from fractions import Fraction
from typing import Any, NamedTuple

from assay.model.units import about_size, format_duration, format_size
from assay.rooms.foreign.work.fio.amount import FioAmount, amount_of
from assay.rooms.foreign.work.fio.engines import DEFAULT_ENGINE, ENGINES, FioEngine
from assay.rooms.foreign.work.fio.jobs import FioJob, whole_text
from assay.rooms.foreign.work.fio.options import OPTIONS
from assay.rooms.foreign.work.fio.place import Place, place_of
from assay.rooms.foreign.work.fio.settings import settings_of
from assay.rooms.foreign.work.fio.values import rate_text, size_of, time_of, whole_of
from assay.rooms.foreign.work.notes import Notes

_PATTERNS = {
    "read": "read", "write": "write", "randread": "random_read", "randwrite": "random_write", "rw": "sequential_mix",
    "readwrite": "sequential_mix", "randrw": "random_mix",
}  # fmt: skip
_OBJECTS = {
    "read": "get",
    "randread": "get",
    "write": "put",
    "randwrite": "put",
    "trim": "delete",
    "randtrim": "delete",
}


class FioWork(NamedTuple):
    """What a job does.

    Attributes:
        job: The job.
        place: Where.
        fields: Fields of the workload, without lanes and sizes.
        amount: How much; None for operations on names and objects.
        lanes: Its processes.
        rate: Operations per second of each process; None without one.
    """

    job: FioJob
    place: Place
    fields: dict[str, Any]
    amount: FioAmount | None
    lanes: int
    rate: Fraction | None


def work_of(job: FioJob, made: Collection[tuple[str, str]], notes: Notes) -> FioWork:
    """Return what a job does.

    Args:
        job: The job.
        made: Files that jobs before it have made, as folder and name.
        notes: Receives a line for each difference.

    Raises:
        AssayError: fio would refuse it, or it has no counterpart.
    """
    _check(job, notes)
    name = job.text("ioengine", DEFAULT_ENGINE)
    engine = ENGINES.get("external" if name.startswith("external") else name)
    if engine is None or not engine.place:
        why = engine.text if engine else "engines of others are not known"
        raise job.error("ioengine", f"there is no counterpart: {why}", "leave the job out, or take another engine")
    if engine.text:
        notes.add(f"ioengine={name}", engine.text)
    lanes = job.number("numjobs", 1, 1)
    place = place_of(job, engine)
    if engine.operation:
        fields = {"operations": [engine.operation], "files": job.number("nrfiles", 1, 1), "layout": "shared"}
        if engine.operation == "create":
            fields |= {"file_size": "0B", "sync": "none"}
        return FioWork(job, place, fields, None, lanes, None)
    if engine.place == "objects":
        return FioWork(job, place, _objects(job, notes), None, lanes, None)
    operation = _operation(job, notes)
    has_data = job.has("overwrite") or (bool(place.named) and place.named <= set(made))
    if operation == "write" and has_data and not place.is_device:
        operation = "rewrite"
    work = _data(job, place, engine, operation, notes)
    _note_prepared(work, has_data, notes)
    return work


def _check(job: FioJob, notes: Notes) -> None:
    """Refuse and note what has no counterpart."""
    for name, value in job.values.items():
        option = OPTIONS[name]
        if value.value.strip() in option.neutral:
            continue
        if option.treatment == "refused":
            raise job.error(name, option.text, "leave the option or the job out")
        if option.treatment == "noted" and not _only_others(value.value, option.neutral):
            notes.add(value.written, option.text)


def _only_others(text: str, neutral: tuple[str, ...]) -> bool:
    """Return whether all parts of a list of values ask for nothing."""
    return bool(neutral) and all(part.strip() in neutral for part in text.split(","))


def _objects(job: FioJob, notes: Notes) -> dict[str, Any]:
    written = job.text("rw", "read").partition(":")[0]
    if written not in _OBJECTS:
        raise job.error("rw", "mixes of objects are not those of fio", "write jobs of reads and of writes")
    record = record_size(job, written)
    size = job.size("io_size") or job.size("size")
    if size < record:
        raise job.error("size", "less than one object of bs", "write size= of all objects of a job")
    operation = _OBJECTS[written]
    fields: dict[str, Any] = {"operations": [operation], "object_size": format_size(record), "objects": size // record}
    if job.has("verify") and operation == "put":
        fields["operations"].append("get")
    if job.has("verify"):
        fields["verify"] = True
    if written.startswith("rand"):
        notes.add(job.values["rw"].written, "each object once, get in random order and put in order")
    return fields | ({} if operation == "delete" else _time(job))


def _data(job: FioJob, place: Place, engine: FioEngine, operation: str, notes: Notes) -> FioWork:
    record = record_size(job, job.text("rw", "read").partition(":")[0])
    is_random = operation.startswith("random")
    amount = amount_of(job, place, record, is_random, notes)
    fields: dict[str, Any] = {"operations": _phases(job, operation, amount, notes)}
    fields["record_size"] = format_size(record)
    if amount.files > 1 and engine.method not in ("", "sync"):
        notes.add(f"ioengine={job.text('ioengine')}", "sets of files are worked on by plain calls")
        engine = engine._replace(method="sync")
    fields |= _engine_fields(job, engine, amount, notes)
    if "mix" in operation:
        fields["read_percent"] = _read_percent(job)
    fields |= _time(job)
    fields |= settings_of(job, place, engine, operation, amount.files > 1, notes)
    if amount.sizes and fields.get("cache") == "direct":
        raise job.error("direct", "O_DIRECT needs files of whole blocks, not of random sizes", "write one filesize")
    return FioWork(job, place, fields, amount, job.number("numjobs", 1, 1), _rate(job, operation, record))


def _engine_fields(job: FioJob, engine: FioEngine, amount: FioAmount, notes: Notes) -> dict[str, Any]:
    """Return the fields for the engine and its queue depth."""
    depth = job.number("iodepth", 1, 1)
    if depth > 1 and not engine.is_async:
        notes.add(job.values["iodepth"].written, "this engine has one operation in flight, with fio too")
        depth = 1
    if amount.files > 1 and depth > 1:
        why = "on a set of files a lane has one operation in flight"
        raise job.error("iodepth", why, "write iodepth=1 and more numjobs, or nrfiles=1")
    found: dict[str, Any] = {"queue_depth": depth} if depth > 1 else {}
    return {**found, **({"method": engine.method} if engine.method else {})}


def _operation(job: FioJob, notes: Notes) -> str:
    written, colon, suffix = job.text("rw", "read").partition(":")
    operation = _PATTERNS.get(written.strip())
    if operation is None and "trim" in written:
        raise job.error("rw", "nothing is trimmed", "leave the job out")
    if operation is None:
        raise job.error("rw", "fio has no such pattern", "write read, write, randread, randwrite, rw or randrw")
    random = operation.startswith("random")
    if colon and random and whole_of(suffix) != 1:
        raise job.error("rw", "a new random place every so many blocks has no counterpart", f"write rw={written}")
    if colon and not random:
        step = -(size_of(suffix.removeprefix("-"), job.kb_base) or 0) if suffix.startswith("-") else None
        if operation != "read" or step != -2 * record_size(job, "read"):
            raise job.error("rw", "holes between blocks have no counterpart", f"write rw={written}")
        notes.add(
            job.values["rw"].written,
            "backward_read: from the end to the start; fio begins with the first block, and leaves out the last",
        )
        return "backward_read"
    if random and job.text("percentage_random", "100").strip() not in ("100", "100,100", "100,100,100"):
        raise job.error("percentage_random", "records come in sequence or at random, not both", "write 100")
    if random and job.text("random_distribution", "random").partition(":")[0] != "random":
        raise job.error("random_distribution", "records are taken uniformly", "write random_distribution=random")
    if operation == "sequential_mix":
        notes.add(job.values["rw"].written, "reads and writes go on in one sequence; fio's go over the file each")
    return operation


def record_size(job: FioJob, pattern: str) -> int:
    """Return the size of a block in bytes; raises AssayError if there are several."""
    sizes = [size_of(text, job.kb_base) for text in job.text("bs", "4k").split(",") if text.strip()]
    if any(not size for size in sizes) or not sizes:
        raise job.error("bs", "this is not a size", "write one such as bs=4k")
    numbers = [size or 0 for size in sizes]
    numbers += [numbers[-1]] * (3 - len(numbers))
    if job.has("bs_is_seq_rand"):
        numbers = [numbers[1 if pattern.startswith("rand") else 0]] * 3
    if job.text("bssplit") or job.text("bsrange"):
        numbers = [_one_size(job, "bssplit" if job.text("bssplit") else "bsrange")] * 3
    if "rw" in (pattern, pattern.removeprefix("rand")) or pattern == "readwrite":
        if numbers[0] != numbers[1]:
            raise job.error("bs", "reads and writes of different sizes", "write one size, or two jobs with stonewall")
        used = numbers[0]
    else:
        used = numbers[0] if "read" in pattern else numbers[1] if "write" in pattern else numbers[2]
    if "blockalign" in job.values and size_of(job.text("blockalign").split(",")[0], job.kb_base) != used:
        raise job.error("blockalign", "records lie at multiples of their size", "leave it out")
    return used


def _one_size(job: FioJob, name: str) -> int:
    """Return the size of a split or range that has only one."""
    texts = [part.partition("/")[0] for part in job.text(name).replace(",", ":").split(":") if part]
    if name == "bsrange":
        texts = [end for text in texts for end in text.split("-")]
    sizes = {size_of(text, job.kb_base) for text in texts}
    size = next(iter(sizes)) if len(sizes) == 1 else None
    if not size:
        hint = "write one size; several are workloads of their own, or an axis: record_size: [4KiB, 64KiB]"
        raise job.error(name, "sizes are not mixed in one workload", hint)
    return size


def _read_percent(job: FioJob) -> int:
    names = [name for name in job.values if name in ("rwmixread", "rwmixwrite")]
    if not names:
        return 50
    share = whole_text(job, names[-1], 50)
    if share > 100:
        raise job.error(names[-1], "more than 100 percent", "write 0 to 100")
    return share if names[-1] == "rwmixread" else 100 - share


def _phases(job: FioJob, operation: str, amount: FioAmount, notes: Notes) -> list[str]:
    again = {"write": "rewrite"}.get(operation, operation)
    found = [operation, *[again] * (amount.passes - 1)]
    checks = job.has("verify") and job.text("verify") != "null" and job.text("do_verify", "1").strip() != "0"
    if checks and operation in ("write", "rewrite", "random_write") and not job.is_timed:
        found.append("random_read" if operation == "random_write" else "read")
    if amount.passes > 1:
        notes.add(f"{amount.passes} passes", "each is a phase with a result of its own")
    return found


def _note_prepared(work: FioWork, has_data: bool, notes: Notes) -> None:
    """Note what is written before a job begins; `has_data`: what it writes over had data with fio, too."""
    operation, place, amount = work.fields["operations"][0], work.place, work.amount
    if operation == "write" or amount is None:
        return
    written = f"rw={work.job.text('rw', 'read')}"
    if place.is_device:
        lost = f"{about_size(amount.total)} of {place.folders[0]} are written first, outside the timing"
        why = f"{lost}, and what was there is lost; fio works on what is there. Lower file_size for less"
        notes.add(written, why)
    elif operation == "random_write" and not has_data:
        notes.add("randwrite", "goes over a file that was written, outside the timing; fio's file has no data yet")
    elif place.is_folder:
        what = "overwritten" if "write" in operation else "read"
        notes.add(written, f"what is {what} is written first, outside the timing, as fio does")


def _time(job: FioJob) -> dict[str, Any]:
    if not job.has("runtime"):
        return {}
    time = time_of(job.text("runtime"))
    if not time:
        raise job.error("runtime", "this is not a time", "write seconds, or 10m")
    return {"runtime" if job.has("time_based") else "time_limit": format_duration(time)}


def _rate(job: FioJob, operation: str, record: int) -> Fraction | None:
    name = next((name for name in ("rate_iops", "rate") if job.has(name)), "")
    if not name:
        return None
    texts = [text.strip() for text in job.text(name).split(",")]
    reads = texts[0] or "0"
    writes = next((text for text in texts[1:2] if text), texts[0] if len(texts) == 1 else "0")
    used = writes if "write" in operation else reads
    if "mix" in operation and len(texts) > 1:
        raise job.error(name, "reads and writes have rates of their own", "write one rate, with rwmixread")
    value = size_of(used, job.kb_base)
    if value is None:
        raise job.error(name, "this is not a rate", "write a number, with rate= of bytes")
    if not value:
        return None
    if "mix" in operation and _read_percent(job) != 50:
        raise job.error(name, "reads and writes each have this rate, whatever rwmixread says", "write rwmixread=50")
    total = Fraction(value) * (2 if "mix" in operation else 1)
    return total if name == "rate_iops" else total / record


def rate_fields(work: FioWork, lanes: int, notes: Notes) -> dict[str, Any]:
    """Return the fields for a rate of all lanes together."""
    if work.rate is None:
        return {}
    text, is_rounded = rate_text(work.rate * lanes)
    if is_rounded:
        notes.add("rate", f"{text}, rounded to a thousandth of an operation")
    notes.add("rate", "operations start when they are due, and wait if others are late; fio's jobs catch up")
    process = work.job.text("rate_process", "linear")
    return {"rate": text, **({"arrivals": "poisson"} if process == "poisson" else {})}
