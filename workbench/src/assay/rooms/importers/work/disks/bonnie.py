"""bonnie++: the line of values (CSV) of 1.03 to 2.00, and the table with headings where no such line stands below it.

K is 1024 bytes, M 2^20 (bonnie++(8)). What the tests do says its readme.html: bytes one at a time go through stdio up
to 1.03, through write(2) and read(2) since; `rewrite` reads each block before; a tenth of the seeks writes, too; files
are also read by `stat` if they are not empty. `+++++` stands for a test of less than half a second.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.secret import redact_word
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.disks.printed import amount, lines_of, measurement
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    Measurement,
    OutputError,
    ToolOutput,
)

NAME = "bonnie++"
HINT = "give the output of bonnie++ as it printed it"
_DATA = ("putc", "put_block", "rewrite", "getc", "get_block", "seeks")
_FILES = ("seq_create", "seq_stat", "seq_del", "ran_create", "ran_stat", "ran_del")
_TESTS = (*_DATA, *_FILES)
_FIELDS = {
    "1.03": ("name", "file_size", *_DATA, "num_files", *_FILES),
    "1.96": (
        *("format", "version", "name", "concurrency", "seed", "file_size", "chunk", *_DATA),
        *(
            "num_files",
            "max_size",
            "min_size",
            "num_dirs",
            "file_chunk",
            *_FILES,
            *(f"{one}_latency" for one in _TESTS),
        ),
    ),
    "1.98": (
        *("format", "version", "name", "concurrency", "seed", "file_size", "chunk", "seek_count", "seekers", *_DATA),
        *(
            "num_files",
            "max_size",
            "min_size",
            "num_dirs",
            "file_chunk",
            *_FILES,
            *(f"{one}_latency" for one in _TESTS),
        ),
    ),
}
"""Format -> fields in order; behind each test stands the share of a processor that it took."""
_MODERN = re.compile(r"(1\.9[3-9]),([12]\.[0-9]{2}\w{0,3}),.*")
_OLD = re.compile(r"[^,\s]{1,80},[0-9]{1,9}[kMG]?(?::[0-9]{1,9}k?)?(?:,[0-9.+]*){12},[0-9:/]*(?:,[0-9.+]*){12}")
_TITLE = re.compile(r"Version +([12]\.[0-9]{2}\w{0,3}) +------Sequential (?:Output|Create)------ .*")
_COMMAND = re.compile(r"(?:.{0,200}[#$%>] ?)?(?:[^ ]{0,200}/)?bonnie\+\+ +(-.{1,400})")
_DIRECTORY = re.compile(r"(?:.* )?-d ?([^ ]{1,200})(?: .*)?")
_COLUMN_HEADS = re.compile(r"(?:Machine|Name:Size|Concurrency).*/sec %CP.*| +files(?::\S+)? +/sec %CP.*")
_LATENCY_ROW = re.compile(r"Latency ( .*)")
_TIME = re.compile(r"([0-9]{1,12})(us|ms|s)")
_SIZE = re.compile(r"([0-9]{1,12})([kMG]?)", re.ASCII)
_RATE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,4})?)([kmg]?)", re.ASCII)
_POWERS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_NAME_WIDTH = 20
_CELL_WIDTH = 10
_OPERATIONS = {
    "put_block": "write",
    "rewrite": "rewrite",
    "get_block": "read",
    "seeks": "random_read",
    "create": "create",
    "stat": "stat",
    "del": "unlink",
}
_OPTIONS = (
    "concurrency",
    "file_size",
    "chunk",
    "seek_count",
    "seekers",
    "num_files",
    "max_size",
    "min_size",
    "num_dirs",
)


class _BonnieValues(NamedTuple):
    """The values of one run.

    Attributes:
        line: Line of the file, from 1.
        form: Where they stand.
        fields: Name -> text.
        units: Test -> unit of its rate.
    """

    line: int
    form: str
    fields: dict[str, str]
    units: dict[str, str]


def recognise(text: str) -> bool:
    """Whether a text has output of bonnie++."""
    return any(
        _TITLE.fullmatch(line) or _MODERN.fullmatch(line) or _OLD.fullmatch(line)
        for line in (one.strip() for one in lines_of(text))
        if len(line) < 1000
    )


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every run in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: bonnie++ says the order of offsets of each result.

    Raises:
        OutputError: It is not what bonnie++ writes.
    """
    lines = [line if len(line) < 1000 else "" for line in lines_of(text)]
    found = list(_lines_of_values(lines)) or list(_tables(lines))
    if not found:
        raise OutputError(1, "no results in this output of bonnie++", HINT)
    _read_heads(lines, found)
    return [_output(values, file) for values in found]


def _read_heads(lines: Sequence[str], found: Sequence[_BonnieValues]) -> None:
    """Add to runs what stands above them: the folder (`-d`) of the command line, and the version above a line of 1.03.

    One command prints several runs with `-x` only.
    """
    start, command = 0, ""
    for values in found:
        above = [line.strip() for line in lines[start : values.line]]
        commands = [match[1] for line in above if (match := _COMMAND.fullmatch(line))]
        command = commands[-1] if commands else command if re.search(r"(?:^| )-x", command) else ""
        if match := _DIRECTORY.fullmatch(command):
            values.fields["directory"] = match[1]
        titles = [match[1] for line in above if (match := _TITLE.fullmatch(line))]
        if titles and not values.fields.get("version"):
            values.fields["version"] = titles[-1]
        start = values.line


def _lines_of_values(lines: Sequence[str]) -> Iterator[_BonnieValues]:
    """Yield the runs that stand in lines of values."""
    for number, line in enumerate((one.strip() for one in lines), 1):
        modern = _MODERN.fullmatch(line)
        if modern is None and not _OLD.fullmatch(line):
            continue
        form = "1.03" if modern is None else "1.98" if modern[1] >= "1.98" else "1.96"
        words = line.split(",")
        fields: dict[str, str] = {}
        for name in _FIELDS[form]:
            for key in (name, f"{name}_cpu") if name in _TESTS else (name,):
                if not words and not name.endswith("_latency"):
                    raise OutputError(number, f"the line has no {name}: it is not whole", HINT)
                fields[key] = words.pop(0) if words else ""
        if words:
            raise OutputError(number, f"the line has {len(words)} values more than bonnie++ prints", HINT)
        units = {name: "K/sec" if name in _DATA[:-1] else "1/s" for name in _TESTS}
        yield _BonnieValues(number, "line of values", fields, units)


def _tables(lines: Sequence[str]) -> Iterator[_BonnieValues]:
    """Yield the runs that stand in tables."""
    values, tests = None, _DATA
    for number, line in enumerate(lines, 1):
        if match := _TITLE.fullmatch(line.rstrip()):
            is_data = "Output" in line
            if values is None or is_data:
                if values is not None:
                    yield values
                values = _BonnieValues(number, "table", {"version": match[1]}, {})
            tests = _DATA if is_data else _FILES
        elif values is None:
            continue
        elif "Sequential Create" in line:
            tests = _FILES
        elif match := _LATENCY_ROW.fullmatch(line.rstrip()):
            _read_latencies(values, tests, match[1], number)
        elif "%CP" not in line and not _COLUMN_HEADS.fullmatch(line) and re.search(r"[0-9]|\+\+", line[_NAME_WIDTH:]):
            _read_row(values, tests, line, number)
    if values is not None:
        yield values


def _read_row(values: _BonnieValues, tests: Sequence[str], line: str, number: int) -> None:
    head, rest = line[:_NAME_WIDTH].split(), line[_NAME_WIDTH:].rstrip()
    words = rest.split()
    if len(words) != 2 * len(tests):
        words = []
        for at in range(0, _CELL_WIDTH * len(tests), _CELL_WIDTH):
            words += [*rest[at : at + _CELL_WIDTH].split(), "", ""][:2]
    if not head or any(name in values.fields for name in tests):
        return
    for name, word, cpu in zip(tests, words[::2], words[1::2], strict=True):
        match = _RATE.fullmatch(word)
        if match is None and word and set(word) != {"+"}:
            raise OutputError(number, f"{name} cannot be {escape_line(word, 40)}", HINT)
        values.fields[name], values.fields[f"{name}_cpu"] = (match[1] if match else word), cpu
        letter = match[2] if match and match[2] else "k"
        values.units[name] = {"k": "K/sec", "m": "M/sec", "g": "G/sec"}[letter] if name in _DATA[:-1] else "1/s"
    if tests is _DATA:
        values.fields["name"] = head[0] if len(head) > 1 else ""
        values.fields["file_size"] = head[-1]
    else:
        values.fields["num_files"] = head[-1]


def _read_latencies(values: _BonnieValues, tests: Sequence[str], text: str, number: int) -> None:
    """Read the row of greatest latencies, which stand below their columns."""
    cells = f"Latency {text}"[_NAME_WIDTH:]
    words = cells.split()
    if len(words) != len(tests):
        words = [cells[at : at + _CELL_WIDTH].strip() for at in range(0, _CELL_WIDTH * len(tests), _CELL_WIDTH)]
    for name, word in zip(tests, words, strict=True):
        if word and not _TIME.fullmatch(word):
            raise OutputError(number, f"the latency of {name} cannot be {escape_line(word, 40)}", HINT)
        values.fields[f"{name}_latency"] = word


def _output(values: _BonnieValues, file: ImportedFile) -> ToolOutput:
    fields = values.fields
    results = tuple(_result(name, values) for name in _TESTS if fields.get(name))
    if not results:
        raise OutputError(values.line, "no test of this output of bonnie++ has a figure", HINT)
    known = {
        "tool": NAME,
        "version": escape_line(fields.get("version", ""), 40),
        "form": values.form,
        "line": values.line,
        "host": escape_line(fields.get("name", ""), 80),
    }
    return ToolOutput(file=file.model_copy(update=known), results=results)


def _result(name: str, values: _BonnieValues) -> ImportedResult:
    fields, text = values.fields, values.fields[name]
    is_fast = set(text) == {"+"}
    figures, latency = list[Figure](), dict[str, float]()
    if not is_fast:
        figures.append(Figure(name, amount(text, name, values.line, HINT), values.units[name]))
    cpu = fields.get(f"{name}_cpu", "")
    if cpu and set(cpu) != {"+"}:
        figures.append(Figure(f"{name}.cpu", amount(cpu, f"{name}.cpu", values.line, HINT), "%"))
    if match := _TIME.fullmatch(fields.get(f"{name}_latency", "")):
        figures.append(Figure(f"{name}.latency.max", match[1], match[2]))
        latency["max"] = float(convert(match[1], match[2]))
    operation = _operation(name, fields)
    left_out = _why_left_out(name, values, is_fast)
    return ImportedResult(
        name=name,
        line=values.line,
        target=redact_word(escape_line(fields.get("directory", ""), 80)) or NAME,
        workload=_workload(name),
        operation=None if left_out else operation,
        parameters={} if left_out else _parameters(name, operation, fields),
        options={one: escape_line(fields[one], 80) for one in _OPTIONS if fields.get(one)},
        figures=tuple(figures),
        latency_of="latency" if latency and not left_out else "",
        measured=None if left_out else _measured(name, operation, values, latency),
        left_out=left_out,
    )


def _operation(name: str, fields: Mapping[str, str]) -> str:
    if name in ("putc", "getc"):
        is_old = fields.get("version", "1.03").startswith("1.0")
        return {"putc": "fwrite" if is_old else "write", "getc": "fread" if is_old else "read"}[name]
    return _OPERATIONS[name.rpartition("_")[2] if name in _FILES else name]


def _workload(name: str) -> str:
    """Return a name that says what is peculiar to the test."""
    if name in _FILES:
        return "files in order" if name.startswith("seq") else "files in random order"
    peculiar = {
        "putc": "write byte by byte",
        "getc": "read byte by byte",
        "rewrite": "rewrite, each block read first",
        "seeks": "seeks, a tenth written back",
    }
    return peculiar.get(name, {"put_block": "write", "get_block": "read"}.get(name, name))


def _why_left_out(name: str, values: _BonnieValues, is_fast: bool) -> str:
    fields = values.fields
    if is_fast:
        return "it took less than half a second, for which bonnie++ prints no rate (+++++)"
    if not float(fields[name]):
        return "its rate is 0"
    if "table" in values.form and name in _FILES and fields[name] == str(_of_files(fields).get("files")):
        return "bonnie++ 2.00 prints the number of files there, not their rate: its line of values has it"
    if name.endswith("_stat") and _of_files(fields).get("file_size") != 0:
        return "it reads the files, too, since they are not empty"
    return ""


def _size_of(text: str, unit: str) -> int | None:
    match = _SIZE.fullmatch(text)
    return int(match[1]) * _POWERS[(match[2] or unit).lower()] if match and int(match[1]) else None


def _parameters(name: str, operation: str, fields: Mapping[str, str]) -> dict[str, AxisValue]:
    """Return what is known; the first number of files counts 1024 each."""
    lanes = int(fields["concurrency"]) if re.fullmatch(r"[1-9][0-9]{0,3}", fields.get("concurrency", "")) else 1
    found: dict[str, AxisValue] = {"hosts": 1, "lanes": lanes, "queue_depth": 1, "rate": None, "runtime": None}
    if name in _FILES:
        return found | _of_files(fields)
    size, _, chunk = fields.get("file_size", "").partition(":")
    if file_size := _size_of(size, "m"):
        found["file_size"] = file_size
    chunk = chunk.partition(":")[0] or fields.get("chunk", "")
    is_byte = name in ("putc", "getc")
    found["record_size"] = 1 if is_byte else _size_of(chunk, "") or 8192
    if operation in ("fwrite", "fread"):
        del found["record_size"]
    if name == "seeks":
        del found["lanes"]
        if re.fullmatch(r"[1-9][0-9]{0,2}", fields.get("seekers", "")):
            found |= {"lanes": int(fields["seekers"]), "layout": "shared"}
    elif lanes == 1:
        found["layout"] = "separate"
    return found


def _of_files(fields: Mapping[str, str]) -> dict[str, AxisValue]:
    words = fields.get("num_files", "").split("/")[0].split(":")
    sizes = [fields.get(one, "") for one in ("max_size", "min_size")] if len(words) == 1 else [*words[1:3], ""]
    found: dict[str, AxisValue] = {}
    if re.fullmatch(r"[1-9][0-9]{0,5}", words[0]):
        found["files"] = int(words[0]) * 1024
    if sizes[0] in ("", "0") or sizes[0] == sizes[1]:
        found["file_size"] = _size_of(sizes[0], "") or 0
    return found


def _measured(name: str, operation: str, values: _BonnieValues, latency: dict[str, float]) -> Measurement:
    rate = float(convert(values.fields[name], values.units[name]))
    parameters = _parameters(name, operation, values.fields)
    record = parameters.get("record_size")
    size = record if isinstance(record, int) else 0
    if name in _DATA[:-1]:
        return measurement(operation, throughput=rate, iops=rate / size if size else None, latency=latency)
    return measurement(operation, throughput=rate * size, iops=rate, latency=latency)
