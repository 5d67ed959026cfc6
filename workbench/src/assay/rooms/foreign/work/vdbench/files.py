"""Runs on files: file system definitions, their workload definitions, and what a run definition makes of them."""

from collections.abc import Sequence
from typing import Any

from assay.model.base import AssayError
from assay.model.study.names import LOOKUPS
from assay.model.study.shape import directories
from assay.model.units import format_size
from assay.rooms.foreign.work.notes import Notes
from assay.rooms.foreign.work.vdbench.fields import (
    Field,
    contents_fields,
    counted,
    first_of,
    flag_fields,
    named,
    numbers,
    rate_fields,
    record_size_field,
    share_fields,
    sizes,
    skew_share,
    time_fields,
    written,
)
from assay.rooms.foreign.work.vdbench.places import Places
from assay.rooms.foreign.work.vdbench.scan import Definition, ParameterFile

_METADATA = {
    "mkdir": "mkdir",
    "rmdir": "rmdir",
    "create": "create",
    "delete": "unlink",
    "getattr": "stat",
    "open": "open",
}
_ORDER = ("mkdir", "create", "stat", "open", "unlink", "rmdir")
"""Operations on names in an order in which each finds what it needs."""
_NONE_LIKE = ("setattr", "access", "close", "copy", "move")
_ONLY, _CLEAN = "only", "clean"
_MAX_LANES = 1024
_BLOCK = 4096
"""Bytes of which all sizes with O_DIRECT are multiples, on all devices."""
_SHARES = ("forrdpct", "rdpct", "readpct")
_FORMAT = "format"
"""Name of the workload definition that says how files are made (FwdEntry.java, `format_fwd`)."""


def file_workloads(file: ParameterFile, places: Places, notes: Notes) -> dict[str, Field]:
    """Return the workloads of all run definitions on files.

    Raises:
        AssayError: vdbench would refuse a definition.
    """
    found: dict[str, Field] = {}
    for rd in file.of("rd"):
        if _CLEAN in (word.lower() for word in rd.values("format")):
            notes.add(
                f"rd={rd.name}", "format=clean removes what is there and does no more: Assay removes its own files"
            )
            continue
        own = [fwd for fwd in file.of("fwd") if fwd.name != _FORMAT]
        fwds = named(rd.values("fwd"), own, rd) if own else [Definition("fwd", "default", rd.line)]
        groups = _alike(fwds)
        if len(groups) > 1:
            notes.add(
                f"rd={rd.name}", f"{len(groups)} workloads at once: each is measured by itself, one after another"
            )
        for fwd, count in groups:
            chosen = named(fwd.values("fsd") or rd.values("fsd"), file.of("fsd"), fwd if fwd.values("fsd") else rd)
            name = rd.name if len(groups) == 1 else f"{rd.name}-{fwd.name}"
            workloads = _workloads(file, rd, fwd, count, chosen, places, notes)
            share = skew_share(fwds, fwd) if any(one.values("skew") for one in fwds) else count / len(fwds)
            for suffix, fields in workloads:
                if fields.keys() & {"runtime", "time_limit"}:
                    fields |= rate_fields(rd, None, share, notes)
                full = f"{name}-{suffix}" if suffix and len(workloads) > 1 else name
                found[places.workload_name(full, found)] = fields
    return found


def _alike(fwds: Sequence[Definition]) -> list[tuple[Definition, int]]:
    """Return each workload once, with how often it is there: several that differ in name and host only are one."""
    found: dict[str, tuple[Definition, int]] = {}
    for fwd in fwds:
        key = repr(
            sorted((name, one.values) for name, one in fwd.parameters.items() if name not in ("host", "hd", "skew"))
        )
        first, count = found.get(key, (fwd, 0))
        found[key] = (first, count + 1)
    return list(found.values())


def _workloads(
    file: ParameterFile,
    rd: Definition,
    fwd: Definition,
    count: int,
    fsds: Sequence[Definition],
    places: Places,
    notes: Notes,
) -> list[tuple[str, Field]]:
    fsds = [one for fsd in fsds for one in counted(fsd, "anchor")]
    lanes = _lanes(rd, fwd, count)
    tree = _fitting(_tree(rd, fsds, notes), lanes, notes) | {"layout": "shared", "lanes": lanes}
    common: Field = {"targets": places.anchors(fsds)}
    flags = flag_fields([rd, fwd, *fsds], notes)
    contents = _sizes(rd, fsds[0], flags["cache"] == "direct", notes)
    data = {**common, **tree, **contents, "record_size": record_size_field(rd, fwd, "xfersizes", notes), **flags}
    formats = tuple(word.lower() for word in rd.values("format"))
    if _ONLY in formats:
        made = contents_fields(file, rd, None, False) | _format_fields(file)
        return [("", {"operations": ["write"], **data, **made})]
    found: list[tuple[str, Field]] = []
    for suffix, fields in _data_operations(rd, fwd, _has_format(file), notes):
        reads = any("write" not in one for one in fields["operations"])
        order = {"file_order": _file_order(fwd, notes)}
        timed = time_fields(rd, notes)
        found.append((suffix, {**fields, **data, **order, **timed, **contents_fields(file, rd, None, reads)}))
    names = [name for name in _ORDER if name in {_METADATA.get(one) for one in _operations(rd, fwd)}]
    if names:
        fields = {"operations": names, **common, **tree, "sync": flags["sync"]}
        if LOOKUPS.issuperset(names):
            fields |= time_fields(rd, notes)
        else:
            notes.add(f"rd={rd.name}", f"{', '.join(names)}: once over all names, and not for elapsed seconds")
        found.append(("names" if found else "", fields))
    for one in _operations(rd, fwd):
        if one in _NONE_LIKE:
            notes.add(f"rd={rd.name}, operation={one}", "there is no operation like it")
    return found


def _operations(rd: Definition, fwd: Definition) -> list[str]:
    """Return the operations that are asked for; those of the run definition win, and reads are the default."""
    parameter = first_of([rd, fwd], "foroperations", "operations", "operation")
    found = [word.lower() for word in parameter.values if word] if parameter else ["read"]
    if first_of([rd, fwd], *_SHARES):
        # FwgRun.java: with rdpct= whatever else is asked for becomes reads and writes.
        return [one for one in found if one in ("read", "write")]
    known = {"read", "write", *_METADATA, *_NONE_LIKE}
    unknown = next((one for one in found if one not in known), None)
    if unknown is not None and parameter is not None:
        raise AssayError(
            f"{parameter.text}: {unknown[:40]!r} is no operation", f"write one of {', '.join(sorted(known))}"
        )
    return found


def _format_fields(file: ParameterFile) -> Field:
    """Return how vdbench writes files before a run: 8 threads, 128 KiB each time, or what `fwd=format` says."""
    own = [fwd for fwd in file.of("fwd") if fwd.name == _FORMAT]
    lanes = numbers(first_of(own, "threads")) or [8]
    size = numbers(first_of([*own, file.general], "xfersizes", "formatxfersize")) or [131072]
    return {"lanes": int(lanes[0]), "record_size": format_size(int(size[0]))}


def _has_format(file: ParameterFile) -> bool:
    """Whether a run of the file makes the files before, so that others write over them."""
    formats = [one.values("format") for one in file.of("rd")]
    return any(words and not words[0].lower().startswith("n") for words in formats)


def _data_operations(rd: Definition, fwd: Definition, has_format: bool, notes: Notes) -> list[tuple[str, Field]]:
    io = [word.lower() for word in fwd.values("fileio")]
    order = "random" if io and "random".startswith(io[0]) else "sequential"
    if "shared" in io:
        notes.add(fwd.parameters["fileio"].text, "a file belongs to one lane, which alone opens it")
    is_new = not has_format or any("delete".startswith(word) for word in io[1:])
    write = "write" if is_new else "rewrite"
    share = first_of([rd, fwd], *_SHARES)
    other = fwd.parameters.get("operation")
    if share and other and other.values and other.values[0].lower() not in ("read", "write"):
        notes.add(f"{other.text}, {share.text}", "with a share of reads vdbench only reads and writes")
    if share:
        return share_fields(numbers(share), order, write)
    shares = [{"read": 100.0, "write": 0.0}[one] for one in _operations(rd, fwd) if one in ("read", "write")]
    return share_fields(shares, order, write)


def _file_order(fwd: Definition, notes: Notes) -> str:
    parameter = fwd.parameters.get("fileselect")
    word = parameter.values[0].lower() if parameter and parameter.values else "sequential"
    if "sequential".startswith(word) or word == "once":
        return "sequential"
    if not "random".startswith(word) and parameter:
        notes.add(parameter.text, "file_order: random, in which each file comes once before any comes again")
    return "random"


def _lanes(rd: Definition, fwd: Definition, count: int) -> Any:
    parameter = first_of([rd, fwd], "forthreads", "threads")
    values = [max(1, int(one)) * count for one in numbers(parameter)] or [count]
    if max(values) > _MAX_LANES:
        raise AssayError(f"rd={rd.name}: {max(values)} threads, more than {_MAX_LANES} lanes", "write fewer threads")
    return written(values)


def _tree(rd: Definition, fsds: Sequence[Definition], notes: Notes) -> Field:
    """Return the tree of all FSDs: the defaults are one directory with ten files (FsdEntry.java)."""
    fsd = fsds[0]
    depths, widths, each = (
        [int(one) for one in numbers(first_of([rd, fsd], f"for{name}", name))] or [default]
        for name, default in (("depth", 1), ("width", 1), ("files", 10))
    )
    loops = [values for values in (depths, widths) if len(values) > 1]
    if loops:
        notes.add(f"rd={rd.name}", "files in each directory times directories is one number: that of the first tree")
    depth, width = depths[0], widths[0]
    if not 1 <= width <= 10_000 or not 0 <= depth <= 16 or width**depth > 10**6:
        raise AssayError(f"fsd={fsd.name}: a tree of depth {depth} and width {width}", "write a smaller one")
    everywhere = fsd.values("distribution")[:1] == ("all",)
    folders = sum(width**level for level in range(1, depth + 1)) if everywhere else width**depth
    if len({repr(one.parameters.get(name)) for one in fsds for name in ("depth", "width", "files", "sizes")}) > 4:
        notes.add(f"fsd={fsd.name} and others", "trees that differ: that of the first for all")
    files = [count * folders * len(fsds) for count in each]
    found: Field = {"total_files": written(files), "depth": written(depths), "width": written(widths)}
    return found | ({"inner": True} if everywhere else {})


def _fitting(tree: Field, lanes: Any, notes: Notes) -> Field:
    """Return a tree with no more directories than a lane has files, which are spread over all of them."""
    depth, width, files, most = (
        choose(value if isinstance(value, list) else [value])
        for choose, value in ((max, tree["depth"]), (max, tree["width"]), (min, tree["total_files"]), (max, lanes))
    )
    each, is_inner = files // most, bool(tree.get("inner"))
    fits = next((one for one in range(width, 0, -1) if directories(one, depth, is_inner) <= each), width)
    if fits == width:
        return tree
    why = f"{fits}: each of {most} lanes has {each} files, and one at least in each directory"
    notes.add(f"width={width}", why)
    widths = tree["width"] if isinstance(tree["width"], list) else [tree["width"]]
    return tree | {"width": written([min(one, fits) for one in widths])}


def _sizes(rd: Definition, fsd: Definition, is_direct: bool, notes: Notes) -> Field:
    """Return the sizes of files: one, sizes with percents, or `(n,0)`: about n (FileAnchor.java).

    With O_DIRECT files consist of whole blocks, so that `(n,0)` becomes five sizes.
    """
    loop = first_of([rd], "forsizes", "sizes")
    if loop:
        return {"file_size": sizes(numbers(loop))}
    parameter = fsd.parameters.get("sizes")
    values = numbers(parameter) or [4096]
    if len(values) == 2 and not values[1] and parameter:
        least, most = format_size(max(1, int(values[0] / 2))), format_size(int(values[0] * 3 / 2))
        if is_direct:
            five = [max(_BLOCK, int(values[0] * part / 4) // _BLOCK * _BLOCK) for part in range(2, 7)]
            notes.add(
                parameter.text, f"about so large: {len(set(five))} sizes between {least} and {most}, equally likely"
            )
            return {"file_sizes": {format_size(size): 1 for size in five}}
        notes.add(parameter.text, f"about so large: any size from {least} to {most}, equally likely")
        return {"file_sizes": f"uniform {least}..{most}"}
    if len(values) < 2:
        return {"file_size": format_size(int(values[0]))}
    if len(values) % 2 and parameter:
        raise AssayError(f"{parameter.text}: sizes without percents", "write (SIZE,PERCENT,SIZE,PERCENT)")
    pairs = zip(values[::2], values[1::2], strict=True)
    return {
        "file_sizes": {format_size(int(size)): int(share) if share == int(share) else share for size, share in pairs}
    }
