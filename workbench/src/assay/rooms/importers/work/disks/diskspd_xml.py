"""diskspd's XML (`-Rxml`): the profile and the results of each timespan (XmlResultParser.cpp, diskspd.xsd)."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from assay.model.escape import escape_line
from assay.rooms.importers.work.disks.diskspd_spans import HINT, DiskspdSection, DiskspdTarget, Timespan
from assay.rooms.importers.work.disks.printed import MAX_FIGURES, amount, nanoseconds, whole
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.results import Figure, OutputError

BEGIN = re.compile(r"\s*<Results>\s*")
_END = "</Results>"
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
_MAX_DEPTH = 12
_DIRECTIONS = {"total": "Total", "read": "Read", "write": "Write"}
_LATENCIES = {"0": "min", "50": "p50", "90": "p90", "99": "p99", "99.9": "p99.9", "99.99": "p99.99", "100": "max"}


def root_of(lines: list[str], first: int) -> ElementTree.Element:
    """Return the document of one output.

    Args:
        lines: Its lines, from `<Results>` on.
        first: Number of the first of them in the file, from 1.

    Raises:
        OutputError: It is no XML, or ends too early.
    """
    text = "\n".join(lines)
    end = text.find(_END)
    if end < 0:
        raise OutputError(first, f"the output has no {_END}", HINT)
    text = text[: end + len(_END)]
    if "<!" in text or text.count("<") > 4_000_000:
        raise OutputError(first, "not XML as diskspd prints it", HINT)
    depth, most = 0, 0
    for match in re.finditer(r"<(/?)[A-Za-z][^<>]*?(/?)>", text):
        depth += 0 if match[2] else -1 if match[1] else 1
        most = max(most, depth)
    if most > _MAX_DEPTH:
        raise OutputError(first, "not XML as diskspd prints it: it is nested too deeply", HINT)
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise OutputError(first + error.position[0] - 1, "not XML: the element is not complete", HINT) from None


def tests_of(root: ElementTree.Element, lines: list[str], first: int) -> list[Timespan]:
    """Return the tests of one output.

    Args:
        root: Its document.
        lines: Its lines.
        first: Number of the first of them in the file, from 1.

    Raises:
        OutputError: A number is none, or something is missing.
    """
    places = [number for number, line in enumerate(lines, first) if "<TestTimeSeconds>" in line]
    spans = [span for span in root.findall("TimeSpan") if span.find("TestTimeSeconds") is not None]
    profiles = root.findall("Profile/TimeSpans/TimeSpan")
    tests = []
    for index, span in enumerate(spans):
        line = places[index] if len(places) == len(spans) else first
        test = Timespan(f"timespan {index + 1}", line)
        if len(profiles) == len(spans):
            _read_profile(test, profiles[index], line)
        _read_results(test, span, line)
        tests.append(test)
    return tests


def _read_profile(test: Timespan, profile: ElementTree.Element, line: int) -> None:
    test.seconds = _int(profile, "Duration", line) or None
    test.total_threads = _int(profile, "ThreadCount", line)
    for one in profile.iterfind("Targets/Target"):
        test.targets.append(_target(one, line))
        for child in one:
            if not len(child) and len(test.options) < 60:
                test.options.setdefault(escape_line(child.tag, 60), escape_line((child.text or "").strip(), 120))


def _target(one: ElementTree.Element, line: int) -> DiskspdTarget:
    off = [name for name in ("DisableOSCache", "DisableAllCache") if one.findtext(name) == "true"]
    ratio = _int(one, "RandomRatio", line)
    order = "mixed" if 0 < ratio < 100 else "random" if one.find("Random") is not None or ratio else "sequential"
    limit = one.findtext("Throughput") or "0"
    is_through = one.findtext("WriteThrough") == "true" or "DisableAllCache" in off
    is_mapped = one.findtext("MemoryMappedIo") == "true"
    return DiskspdTarget(
        path=(one.findtext("Path") or "").strip(),
        block=_int(one, "BlockSize", line) or None,
        order=order,
        write_percent=_int(one, "WriteRatio", line),
        depth=_int(one, "RequestCount", line) or None,
        threads=_int(one, "ThreadsPerFile", line) or None,
        is_direct=bool(off),
        sync=None if is_mapped else "o_dsync" if is_through else "none",
        is_limited=limit != "0" or bool(_int(one, "ThinkTime", line)),
    )


def _read_results(test: Timespan, span: ElementTree.Element, line: int) -> None:
    test.threads = _int(span, "ThreadCount", line)
    seconds = amount((span.findtext("TestTimeSeconds") or "").strip(), "TestTimeSeconds", line, HINT)
    test.elapsed_ns = nanoseconds(seconds, "s")
    sections = {name: DiskspdSection() for name in _DIRECTIONS}
    for one in span.iterfind("Thread/Target"):
        for name, ops, moved in (
            ("total", "IOCount", "BytesCount"),
            ("read", "ReadCount", "ReadBytes"),
            ("write", "WriteCount", "WriteBytes"),
        ):
            sections[name].ops += _int(one, ops, line)
            sections[name].moved += _int(one, moved, line)
        test.sizes.add(_int(one, "FileSize", line))
    test.sections = sections
    for name, word in _DIRECTIONS.items():
        if sections[name].ops:
            sections[name].latency = _latency(span, word, line)
    for figure in _figures(span, "", line):
        if len(test.figures) >= MAX_FIGURES:
            raise OutputError(line, f"more than {MAX_FIGURES:,} figures", HINT)
        test.figures.append(figure)


def _latency(span: ElementTree.Element, word: str, line: int) -> dict[str, float]:
    """Return the latencies of one direction in ns."""
    found = {}
    mean = span.findtext(f"Latency/Average{word}Milliseconds")
    if mean is not None:
        found["mean"] = float(convert(amount(mean.strip(), "mean latency", line, HINT), "ms"))
    for bucket in span.iterfind("Latency/Bucket"):
        name = _LATENCIES.get((bucket.findtext("Percentile") or "").strip())
        text = bucket.findtext(f"{word}Milliseconds")
        if name and text is not None:
            found[name] = float(convert(amount(text.strip(), f"{name} of latencies", line, HINT), "ms"))
    return found


def _figures(element: ElementTree.Element, path: str, line: int) -> Iterator[Figure]:
    """Yield the numbers below an element. The course of each thread (`Iops` in `Thread`) is left out."""
    counts: dict[str, int] = {}
    for child in element:
        key = child.findtext("Percentile") or child.get("SampleMillisecond")
        number = counts[child.tag] = counts.get(child.tag, -1) + 1
        is_listed = child.tag in ("Thread", "Target", "CPU", "Bucket")
        name = f"{path}{child.tag}" + (f".{key.strip() if key else number}" if is_listed else "")
        if child.tag in ("Iops", "Distribution") and path.startswith("Thread"):
            continue
        for word, value in child.attrib.items():
            if word != "SampleMillisecond" and _NUMBER.fullmatch(value):
                yield _figure(f"{name}.{word}", value, line)
        text = (child.text or "").strip()
        if len(child):
            yield from _figures(child, f"{name}.", line)
        elif _NUMBER.fullmatch(text) and child.tag != "Percentile":
            yield _figure(name, text, line)


def _figure(name: str, text: str, line: int) -> Figure:
    name = escape_line(name, 120)
    return Figure(name, amount(text, name, line, HINT), _unit(name.rpartition(".")[2]))


def _unit(word: str) -> str:
    if word in ("BytesCount", "FileSize", "ReadBytes", "WriteBytes"):
        return "bytes"
    if word.endswith(("Milliseconds", "LatencyStdev", "LatencyStdDev")):
        return "ms"
    if word.endswith("Percent"):
        return "%"
    return "s" if word.endswith("Seconds") else "1/s" if word.endswith("IopsStdDev") else ""


def _int(element: ElementTree.Element, name: str, line: int) -> int:
    """Return the whole number in a child; 0 without one."""
    text = element.findtext(name)
    return whole(text.strip(), name, line, HINT) if text is not None else 0
