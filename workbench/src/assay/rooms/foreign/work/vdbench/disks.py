"""Runs on luns: storage definitions, workload definitions and what a run definition makes of them."""

from collections.abc import Sequence
from typing import Any

from assay.model.base import AssayError
from assay.model.units import format_size
from assay.rooms.foreign.work.notes import Notes
from assay.rooms.foreign.work.vdbench.fields import (
    Field,
    contents_fields,
    counted,
    first_of,
    flag_fields,
    named,
    number,
    numbers,
    rate_fields,
    record_size_field,
    share_fields,
    skew_share,
    time_fields,
    written,
)
from assay.rooms.foreign.work.vdbench.places import Places
from assay.rooms.foreign.work.vdbench.scan import Definition, ParameterFile

_WHOLE_LUN = "10GiB"
_MAX_DEPTH = 4096


def disk_workloads(file: ParameterFile, places: Places, notes: Notes) -> dict[str, Field]:
    """Return the workloads of all run definitions on luns.

    Raises:
        AssayError: vdbench would refuse a definition.
    """
    found: dict[str, Field] = {}
    sds = file.of("sd")
    for rd in file.of("rd"):
        names = rd.values("wd")
        wds = named(names, file.of("wd"), rd) if names or file.of("wd") else [Definition("wd", "default", rd.line)]
        if len(wds) > 1:
            notes.add(f"rd={rd.name}", f"{len(wds)} workloads at once: each is measured by itself, one after another")
        for wd in wds:
            chosen = named(wd.values("sd") or rd.values("sd"), sds, wd if wd.values("sd") else rd)
            name = rd.name if len(wds) == 1 else f"{rd.name}-{wd.name}"
            workloads = _workloads(file, rd, wd, chosen, places, notes)
            share = skew_share(wds, wd)
            for suffix, fields in workloads:
                fields |= rate_fields(rd, wd, share / len(fields["targets"]), notes)
                full = f"{name}-{suffix}" if suffix and len(workloads) > 1 else name
                found[places.workload_name(full, found)] = fields
    return found


def _workloads(
    file: ParameterFile, rd: Definition, wd: Definition, sds: Sequence[Definition], places: Places, notes: Notes
) -> list[tuple[str, Field]]:
    sds = [one for sd in sds for one in counted(sd, "lun")]
    targets, is_device = places.luns(sds)
    common: Field = {"targets": targets}
    common |= {"file_size": _size(sds, notes), "record_size": record_size_field(rd, wd, "xfersize", notes)}
    common |= {"layout": "shared"} if is_device else {}
    common |= _depth(rd, wd, sds, is_device)
    common |= flag_fields([rd, wd, *sds], notes)
    found = []
    orders = _orders(rd, wd, notes)
    for order, ends in orders:
        for suffix, fields in share_fields(_shares(rd, wd), order, "write" if is_device else "rewrite"):
            reads = any("write" not in one for one in fields["operations"])
            timed = {} if ends else time_fields(rd, notes)
            parts = [order] if len(orders) > 1 else []
            label = "-".join([*parts, *([suffix] if suffix else [])])
            found.append((label, {**fields, **common, **timed, **contents_fields(file, rd, sds[0], reads)}))
    return found


def _size(sds: Sequence[Definition], notes: Notes) -> Any:
    found = [number(parameter.values[0], parameter) for sd in sds if (parameter := sd.parameters.get("size"))
             and parameter.values]  # fmt: skip
    if not found:
        notes.add("size", f"not given: vdbench takes the whole lun or file; {_WHOLE_LUN} here, write its size")
        return _WHOLE_LUN
    if len(set(found)) > 1:
        notes.add("size", f"luns of different sizes: {format_size(int(min(found)))}, the least, for all")
    return format_size(int(min(found)))


def _depth(rd: Definition, wd: Definition, sds: Sequence[Definition], is_device: bool) -> Field:
    """Return lanes and operations in flight.

    vdbench's threads are those of each SD, whose default is 8 (SD_entry.java). A file of its own for each SD is a lane;
    devices are targets of their own.
    """
    parameter = first_of([rd, wd, *sds], "forthreads", "threads")
    values = [int(one) for one in numbers(parameter)] or [8]
    if max(values) > _MAX_DEPTH or min(values) < 1:
        text = parameter.text if parameter else ""
        raise AssayError(f"{text}: 1 to {_MAX_DEPTH} operations in flight", "write fewer, and more SDs")
    lanes = 1 if is_device else len(sds)
    return {"lanes": lanes, "queue_depth": written(values)}


def _shares(rd: Definition, wd: Definition) -> list[float]:
    """Return the percents of reads; all are reads if nothing is said (WD_entry.java)."""
    parameter = first_of([rd, wd], "forrdpct", "rdpct", "readpct")
    if parameter:
        return numbers(parameter)
    writes = first_of([wd], "writepct", "wrpct")
    return [100 - one for one in numbers(writes)] if writes else [100]


def _orders(rd: Definition, wd: Definition, notes: Notes) -> list[tuple[str, bool]]:
    """Return the orders of offsets, and whether a run ends with the lun (`eof`); all are random if nothing is said."""
    parameter = first_of([rd, wd], "forseekpct", "seekpct")
    found = []
    for word in parameter.values if parameter else ("100",):
        low = word.lower()
        if "sequential".startswith(low) or low in ("eof", "seqnz"):
            found.append(("sequential", low == "eof"))
            if low == "eof" and parameter:
                notes.add(parameter.text, "ends with the file, without a runtime")
        elif "random".startswith(low) or "poisson".startswith(low):
            found.append(("random", False))
            if "poisson".startswith(low) and parameter:
                notes.add(parameter.text, "all records are equally likely")
        elif parameter:
            share = number(word.lstrip("-"), parameter)
            if 0 < share < 100:
                notes.add(parameter.text, "partly random order has no counterpart: "
                          f"{'random' if share >= 50 else 'sequential'}")  # fmt: skip
            found.append(("random" if share >= 50 and not word.startswith("-") else "sequential", word == "-1"))
        else:
            found.append(("random", False))
    return list(dict.fromkeys(found))
