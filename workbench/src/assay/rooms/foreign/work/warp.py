"""Converts a command line of MinIO warp to an equivalent study (version 1.6)."""

import re
from typing import Any

from assay.model.base import AssayError
from assay.model.units import format_size
from assay.plan.command_lines.warp_options import WarpLine, warp_number, warp_seconds, warp_size, warp_words
from assay.plan.text import study_text
from assay.rooms.foreign.work.ior import head_comments
from assay.rooms.foreign.work.line import join_lines, plain_words, read_line
from assay.rooms.foreign.work.notes import Notes, note_variable
from assay.rooms.foreign.work.safe_line import safe_line
from assay.rooms.foreign.work.warp_options import COMMANDS, NOTES, REFUSED, REFUSED_COMMANDS

NAMES = ("warp",)
SECRETS = ("access-key", "secret-key", "session-token", "sts-web-token", "influxdb")
_MAX_LANES, _MAX_DEPTH = 256, 4096
_PART = 16 << 20
"""Parts in which minio-go puts what is larger, if nothing else is said (constants.go, minPartSize)."""
_MIN_PART = 5 << 20
_OPERATIONS = {"get": "get", "put": "put", "stat": "head", "list": "list", "multipart": "get", "multipart-put": "put",
               "mixed": "object_mix", "versioned": "object_mix"}  # fmt: skip
_OBJECTS = {"get": 2500, "put": 2500, "stat": 10_000, "list": 10_000, "delete": 25_000, "mixed": 2500, "versioned": 250,
            "multipart": 1, "multipart-put": 20}  # fmt: skip
"""Command -> its default number of objects (cli/*.go); put and multipart-put have none, and go on to new ones."""
_SIZES = {"stat": "1KB", "list": "1KB", "delete": "1KiB"}
_SHARES = {"get": "45", "put": "15", "head": "30", "delete": "10"}
_OPTION_OF = {"get": "get-distrib", "put": "put-distrib", "head": "stat-distrib", "delete": "delete-distrib"}
_CHECKSUMS = {"CRC32": "crc32", "CRC32C": "crc32c", "CRC64N": "crc64nvme", "CRC64NVME": "crc64nvme", "SHA256": "sha256"}
_ELLIPSIS = re.compile(r"\{([0-9]{1,9})\.\.\.([0-9]{1,9})\}")
_MAX_HOSTS = 4096


def warp_study(text: str) -> str:
    """Return the text of a study file equivalent to a command line of warp.

    Args:
        text: The command line.

    Returns:
        The study, with a comment at its head for each option that has no counterpart or a different meaning.

    Raises:
        AssayError: warp would refuse the command line, or a study cannot do it.
    """
    text = join_lines(text)
    line = read_line(text, NAMES)
    words = warp_words(line.words)
    _refuse(words)
    notes = Notes()
    for name in line.launch.variables:
        note_variable(name, notes)
    for name in words.values:
        if name in NOTES:
            notes.add(f"--{name}" if name in SECRETS else words.written[name], NOTES[name])
    clients = [re.sub(r":[0-9]+$", "", one) for one in _hosts(words.values.get("warp-client", ""), "warp-client")]
    if clients:
        notes.add("--warp-client", "engines are copied there by ssh; no client has to run")
    workload = _workload(words, notes)
    if clients:
        workload["hosts"] = len(clients)
    study: dict[str, Any] = {"study": "from-warp", "targets": {"bucket": _target(words, notes)}}
    study |= {"workloads": {words.command: workload}, "repeats": 1}
    notes.add("repeats: 1", "an interval needs 3 repeats at least: change repeats")
    if clients:
        study["hosts"] = clients
    return study_text(study, head_comments(safe_line(plain_words(text), SECRETS), notes))


def _refuse(words: WarpLine) -> None:
    if not words.command:
        raise AssayError("warp: there is no benchmark", f"write one of {', '.join(COMMANDS)}")
    if words.command in REFUSED_COMMANDS:
        raise AssayError(
            f"warp {words.command}: {REFUSED_COMMANDS[words.command]}", f"studies can do {', '.join(COMMANDS)}"
        )
    if words.command not in COMMANDS:
        raise AssayError(f"warp has no benchmark {words.command}", f"studies can do {', '.join(COMMANDS)}")
    for name, why in REFUSED.items():
        if words.has(name) and not (name == "signature" and words.values[name].upper() == "S3V4"):
            raise AssayError(f"warp --{name}: {why}", "leave it out")


def _hosts(text: str, option: str) -> list[str]:
    """Return the hosts of a list, with `{1...8}` written out."""
    found: list[str] = []
    for one in text.split(","):
        if one.startswith("file:"):
            raise AssayError(f"warp --{option}: {one}: the file is not read", "write its hosts on the command line")
        found += _expanded(one.strip(), option) if one.strip() else []
    return list(dict.fromkeys(found))


def _expanded(word: str, option: str) -> list[str]:
    match = _ELLIPSIS.search(word)
    if match is None:
        return [word]
    first, last = int(match[1]), int(match[2])
    if not 0 <= last - first < _MAX_HOSTS:
        raise AssayError(f"warp --{option}: {match[0]} is no range of hosts", "write such as {1...8}")
    before, after = word[: match.start()], word[match.end() :]
    width = len(match[1]) if match[1].startswith("0") else 0
    return [
        f"{before}{str(number).zfill(width)}{rest}"
        for number in range(first, last + 1)
        for rest in _expanded(after, option)
    ]


def _target(words: WarpLine, notes: Notes) -> dict[str, Any]:
    scheme = "https" if words.has("tls") or words.has("ktls") else "http"
    hosts = _hosts(words.values.get("host", "127.0.0.1:9000"), "host")
    bucket = words.values.get("bucket", "warp-benchmark-bucket")
    found: dict[str, Any] = {"kind": "s3", "bucket": bucket, "endpoints": [f"{scheme}://{host}" for host in hosts]}
    if len(hosts) > 1:
        found["balance"] = (
            "round_robin" if words.values.get("host-select", "weighed") == "roundrobin" else "least_loaded"
        )
    if words.has("region"):
        found["region"] = words.values["region"]
    if words.values.get("lookup", "") in ("dns", "host", "path"):
        found["addressing"] = "path" if words.values["lookup"] == "path" else "virtual_host"
    if words.values.get("storage-class"):
        found["storage_class"] = words.values["storage-class"]
    if words.has("md5"):
        found["checksum"] = "md5"
    if words.has("checksum"):
        name = words.values["checksum"].upper()
        if name not in _CHECKSUMS:
            raise AssayError(f"warp --checksum {name}: there is no such sum", f"known: {', '.join(_CHECKSUMS)}")
        found["checksum"] = _CHECKSUMS[name]
    if words.command == "versioned":
        found["versioned"] = True
        notes.add("versioned", "puts make new objects, and gets fetch the newest version")
    return found | _keys(words, notes)


def _keys(words: WarpLine, notes: Notes) -> dict[str, Any]:
    """Return the fields for names of objects."""
    prefix = words.values.get("prefix", "").strip("/")
    if words.has("list-existing"):
        return {"existing": prefix}
    notes.add(f"--bucket={words.values.get('bucket', 'warp-benchmark-bucket')}",
              "objects go below keys of the run's own, and only these are removed; a bucket without Assay's mark needs "
              "--destroy")  # fmt: skip
    found: dict[str, Any] = {"prefix": prefix} if prefix else {}
    return found


def _workload(words: WarpLine, notes: Notes) -> dict[str, Any]:
    command = words.command
    streams = int(warp_number(words.values.get("concurrent", "20"), "concurrent"))
    lanes = _lanes(streams)
    total = int(warp_number(words.values.get("objects", str(_OBJECTS[command])), "objects"))
    found: dict[str, Any] = {"operations": [_operation(words)], "objects": max(1, -(-total // streams)), **lanes}
    if lanes.get("queue_depth"):
        found["objects"] = max(1, -(-total // lanes["lanes"]))
    if not words.has("list-existing"):
        found |= _sizes(words, streams, notes)
    if command in ("mixed", "versioned"):
        found["mix"] = _mix(words, notes)
    if command == "get" and (words.has("range") or words.has("range-size")):
        found["range"] = _range(words, notes)
    if command == "put":
        notes.add(
            "put",
            f"goes over its objects as often as the time allows; warp's are new ones: {found['objects']} of each lane",
        )
    elif command != "delete":
        notes.add(command, "the objects are put before, outside the timing; warp shows these puts, too")
    if found["operations"][0] in ("delete", "multi_delete"):
        notes.add(
            "delete", "all objects are removed once, whatever --duration says; a request of multi_delete has up to 1000"
        )
    else:
        seconds = warp_seconds(words.values.get("duration", "5m"), "duration")
        found["runtime"] = f"{seconds.normalize():f}s"
    limit = warp_number(words.values.get("rps-limit", "0"), "rps-limit")
    if limit:
        found["rate"] = f"{limit.normalize():f}/s"
        notes.add(
            words.written["rps-limit"], "of all lanes of all hosts; operations start when they are due (open loop)"
        )
    return found


def _operation(words: WarpLine) -> str:
    if words.command == "delete":
        return "delete" if words.values.get("batch", "100") == "1" else "multi_delete"
    return _OPERATIONS[words.command]


def _lanes(streams: int) -> dict[str, int]:
    """Return lanes, and requests in flight of each, that make so many at once."""
    if streams < 1:
        raise AssayError(f"warp --concurrent {streams}: nothing is done", "write 1 or more")
    lanes = next(count for count in range(min(streams, _MAX_LANES), 0, -1) if streams % count == 0)
    if streams // lanes > _MAX_DEPTH:
        raise AssayError(
            f"warp --concurrent {streams}: too many requests at once", "write a number with smaller factors"
        )
    return {"lanes": lanes} if lanes == streams else {"lanes": lanes, "queue_depth": streams // lanes}


def _sizes(words: WarpLine, streams: int, notes: Notes) -> dict[str, Any]:
    """Return the fields for sizes of objects and of their parts."""
    if words.command in ("multipart", "multipart-put"):
        return _parts(words, streams, notes)
    text = words.values.get("obj.size", _SIZES.get(words.command, "10MiB"))
    if ":" in text:
        shares = [one.partition(":") for one in text.split(",")]
        sizes = {
            format_size(warp_size(size, "obj.size")): float(warp_number(share, "obj.size")) for size, _, share in shares
        }
        return {"object_size": {size: int(share) if share == int(share) else share for size, share in sizes.items()}}
    numbers = [warp_size(one, "obj.size") for one in text.split(",")]
    if len(numbers) > 2:
        raise AssayError(
            f"warp --obj.size {text}: more than two sizes", "write one size, or the least and the greatest"
        )
    largest = numbers[-1]
    found: dict[str, Any] = {"object_size": format_size(largest)}
    if words.has("obj.randsize") or len(numbers) == 2:
        least = numbers[0] if len(numbers) == 2 else max(1, largest // 256)
        found["object_size"] = f"{format_size(least)}..{format_size(largest)}"
        notes.add(
            "--obj.randsize",
            "each power of two is as likely from a 256th of the size on, as with warp; it has a few smaller ones",
        )
    return found | _part_size(words, largest, notes)


def _part_size(words: WarpLine, largest: int, notes: Notes) -> dict[str, Any]:
    part = warp_size(words.values["part.size"], "part.size") if words.values.get("part.size") else _PART
    if words.has("disable-multipart") or largest <= part:
        return {}
    if part < _MIN_PART:
        notes.add(words.written["part.size"], "left out: S3 takes no parts below 5 MiB")
        return {}
    if not words.values.get("part.size"):
        notes.add("part_size: 16MiB", "as the library of warp puts what is larger; --disable-multipart puts it whole")
    return {"part_size": format_size(part)}


def _parts(words: WarpLine, streams: int, notes: Notes) -> dict[str, Any]:
    """Return the sizes of an object in parts, which `multipart` fetches by its parts."""
    parts = int(warp_number(words.values.get("parts", "100" if words.command == "multipart-put" else "200"), "parts"))
    size = warp_size(words.values.get("part.size", "5MiB"), "part.size")
    if size < _MIN_PART or parts < 1:
        raise AssayError(f"warp --part.size {format_size(size)}: S3 takes no parts below 5 MiB", "write 5MiB or more")
    if words.command == "multipart":
        each = -(-parts // streams)
        notes.add(f"--parts={parts}", f"each lane has an object of {each} parts; warp has one of {parts} for all")
        notes.add("--part.size", "of a lane's object a range at a random offset is fetched, as large as a part")
        return {"object_size": format_size(each * size), "part_size": format_size(size), "range": format_size(size)}
    if words.has("part.concurrent"):
        notes.add(
            words.written["part.concurrent"], "left out: write queue_depth, parts of a lane that are under way at once"
        )
    return {"object_size": format_size(parts * size), "part_size": format_size(size)}


def _mix(words: WarpLine, notes: Notes) -> dict[str, int]:
    """Return the shares of a mix in whole percent, which add up to 100 also if warp's do not."""
    shares = {kind: warp_number(words.values.get(option, _SHARES[kind]), option) for kind, option in _OPTION_OF.items()}
    total = sum(shares.values())
    if not total:
        raise AssayError("warp mixed: all shares are 0", "write --get-distrib=45, for example")
    if shares["delete"] > shares["put"]:
        message = "warp mixed: more objects would be deleted than put"
        raise AssayError(message, "raise --put-distrib, or lower --delete-distrib")
    exact = {kind: share * 100 / total for kind, share in shares.items()}
    found = {kind: int(share) for kind, share in exact.items()}
    for kind in sorted(found, key=lambda kind: found[kind] - exact[kind])[: 100 - sum(found.values())]:
        found[kind] += 1
    if any(exact[kind] != share for kind, share in found.items()):
        written = " + ".join(f"{share.normalize():f}" for share in shares.values())
        notes.add("mix", f"whole percent of {written}, which are warp's get, put, stat and delete")
    found["delete"], found["get"] = (
        min(found["delete"], found["put"]),
        found["get"] + max(0, found["delete"] - found["put"]),
    )
    return {kind: share for kind, share in found.items() if share}


def _range(words: WarpLine, notes: Notes) -> str:
    if words.values.get("range-size"):
        return format_size(warp_size(words.values["range-size"], "range-size"))
    size = warp_size(words.values.get("obj.size", "10MiB"), "obj.size")
    notes.add("--range", "half of each object at a random offset; warp draws both the length and the offset")
    return format_size(max(1, size // 2))
