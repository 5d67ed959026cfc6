"""Rules about outputs of iozone: its numbers against each other, and against how it works."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import pairwise

from assay.model.study.names import WORK
from assay.model.units import about_number, format_size
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import Item, RuleFinding, first_of_outputs, half_digit, number
from assay.rooms.importers.work.figure_units import UNITS, convert, whole_number
from assay.rooms.importers.work.iozone import THROUGHPUT

STOP_SHARE = Decimal("0.01")
PARENT = Decimal("1.01")
"""Most that the parent, which waits for all processes, sees of what they see together."""
MIN_STOP_SECONDS = 5
"""Shortest test whose processes are taken to have started at once: they begin within some tenths of a second."""
DATE = "%a %b %d %H:%M:%S %Y"
"""Of iozone, and of fio's `time` (ctime)."""
TESTS = {
    "initial writers": 0,
    "writers": 0,
    "rewriters": 0,
    "re-writers": 0,
    "readers": 1,
    "initial readers": 1,
    "re-readers": 1,
    "random readers": 2,
    "random writers": 2,
    "reverse readers": 3,
    "stride readers": 5,
    "mixed workload": 8,
    "pwrite writers": 9,
    "pread readers": 10,
    "fwriters": 6,
    "freaders": 7,
}
"""Label in iozone's throughput mode -> number of its test for `-i` (iozone.c, usage text and multi_throughput_test)."""
LABELS = TESTS.keys() - {"writers", "re-writers", "initial readers"}
"""Labels that iozone prints; the others are known from logs that people edited."""
_SIZES = {"": 1024, "k": 1024, "m": 1024**2, "g": 1024**3}
"""Letter behind a size in the command line -> bytes; without one it is KB."""
_LINES = {
    "-c": "Include close in write timing",
    "-e": "Include fsync in write timing",
}
"""Option that changes what is timed -> the line that iozone prints if it is set."""
CELL_TESTS = {
    **dict.fromkeys(("write", "rewrite"), 0),
    **dict.fromkeys(("read", "reread"), 1),
    **dict.fromkeys(("random_read", "random_write"), 2),
    "backward_read": 3,
    "record_rewrite": 4,
    "stride_read": 5,
    **dict.fromkeys(("fwrite", "re_fwrite"), 6),
    **dict.fromkeys(("fread", "re_fread"), 7),
}
"""Operation of a column in automatic mode -> number of its test for `-i`."""


def whole_records(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield what iozone says that a process moved, if that is no whole number of records."""
    for item in items:
        record = item.parameter("record_size") if item.output.file.tool == "iozone" else 0
        for name, figure in item.figures.items():
            if record and (name == "min_xfer" or name.endswith(".xfer")) and UNITS[figure.unit].quantity == "bytes":
                moved = convert(figure.text, figure.unit)
                slack = half_digit(figure.text) * UNITS[figure.unit].factor
                rest = moved % record
                if min(rest, record - rest) > slack:
                    records = about_number(moved / record, 7)
                    text = f"{name} {figure.text} {figure.unit} is {records} records of {format_size(record)}"
                    yield RuleFinding(item, f"{text}: iozone counts whole records", {"records": records})
                    break


def sum_of_processes(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield tests of iozone whose sum, mean, least and greatest rate of the processes do not fit each other."""
    for item in items:
        count = _processes(item)
        if not item.is_throughput_test() or not count:
            continue
        text = {name: item.figures[name].text for name in ("children", "min", "max", "avg")}
        value = {name: number(printed) for name, printed in text.items()}
        slack = sum(half_digit(printed) for printed in text.values()) * count + value["children"] * Decimal("1e-6")
        if abs(value["avg"] * count - value["children"]) > slack:
            words = f"{count} processes of {text['avg']} on average are {value['avg'] * count:,}"
            yield RuleFinding(item, f"{words}, and {text['children']} are stated as their sum", {"mean": text["avg"]})
        elif min_seconds(item) < MIN_STOP_SECONDS:
            # Least and greatest of a short test leave out processes that were stopped before their first record.
            continue
        elif "parent" in item.figures and number(item.figures["parent"].text) > value["children"] * PARENT:
            words = f"the parent saw {item.figures['parent'].text}"
            text_of_sum = f"{words}, more than its processes together, {text['children']}: it waits for all of them"
            yield RuleFinding(item, text_of_sum, {"sum": text["children"]})
        elif not _is_sum(value, count, slack):
            words = f"no {count} rates between {text['min']} and {text['max']}"
            yield RuleFinding(item, f"{words} have the sum {text['children']}", {"sum": text["children"]})


def _is_sum(value: Mapping[str, Decimal], count: int, slack: Decimal) -> bool:
    """Return whether so many rates, the least and the greatest among them, can have the sum."""
    if count == 1:
        return abs(value["min"] - value["children"]) <= slack and abs(value["max"] - value["children"]) <= slack
    low, high = value["min"], value["max"]
    return low <= high and (count - 1) * low + high - slack <= value["children"] <= (count - 1) * high + low + slack


def stop_of_the_fastest(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield reading tests of iozone whose least amount does not follow from the rates.

    All processes stop when the first has read its file (iozone.c, `stop_flag`), so that each has moved its rate times
    the same time: least amount / file size = least rate / greatest rate. Writing tests may flush after that.
    """
    for item in items:
        size, operation = item.parameter("file_size"), item.result.operation
        if not item.is_throughput_test() or not size or operation is None or not WORK[operation].reads:
            continue
        figures = item.figures
        if "-x" in item.result.options or UNITS[figures["min_xfer"].unit].quantity != "bytes":
            continue
        if min_seconds(item) < MIN_STOP_SECONDS:
            continue
        least, most = number(figures["min"].text), number(figures["max"].text)
        moved, rates = convert(figures["min_xfer"].text, figures["min_xfer"].unit) / size, least / most
        if abs(moved - rates) > STOP_SHARE:
            text = f"the slowest process moved {moved:.1%} of its file at {rates:.1%} of the greatest rate".replace(
                "%", " %"
            )
            yield RuleFinding(
                item,
                f"{text}: in a reading test of iozone these shares are the same",
                {"moved": f"{moved:.4f}", "rates": f"{rates:.4f}"},
            )


def label_of_iozone(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield tests in throughput mode whose label iozone does not print."""
    for item in items:
        # In a table the name of a result may be that of its column.
        is_label = item.result.name in TESTS or item.output.file.form == THROUGHPUT
        if item.is_throughput_test() and is_label and item.result.name not in LABELS:
            text = f"the label `{item.result.name}` is none that iozone prints: the output was edited"
            yield RuleFinding(item, text, {"label": item.result.name})


def test_that_was_chosen(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield tests that the command line did not ask for: of throughput mode, and columns of automatic mode."""
    seen = set()
    for item in items:
        if item.output.file.tool != "iozone":
            continue
        words = item.output.file.command.split()
        numbers = (whole_number(second) for first, second in pairwise(words) if first == "-i")
        chosen = {number for number in numbers if number is not None}
        is_test, name = item.is_throughput_test(), item.result.name
        test = TESTS.get(name) if is_test else CELL_TESTS.get(item.result.operation or "")
        if not chosen or test is None or test in chosen or (id(item.output), name) in seen:
            continue
        seen.add((id(item.output), name))
        asked = " ".join(f"-i {each}" for each in sorted(chosen))
        text = f"the command line has {asked}, and `{name}` is of -i {test}"
        yield RuleFinding(item, text, {"asked": asked, "label": name})


def options_of_command(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield outputs of iozone's throughput mode that state other options than their command line has."""
    seen = set()
    for item in items:
        words = item.output.file.command.split()
        if item.output.file.tool != "iozone" or not item.is_throughput_test() or not words:
            continue
        for flag, text in (*_other_sizes(item, words), *_unasked(item, words)):
            if (id(item.output), flag) not in seen:
                seen.add((id(item.output), flag))
                yield RuleFinding(item, text, {"option": flag})


def _other_sizes(item: Item, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield numbers of the command line that are others in the output: size of files, of records, processes."""
    printed = {"-s": item.parameter("file_size"), "-r": item.parameter("record_size"), "-t": _processes(item)}
    for flag, known in printed.items():
        asked = [second for first, second in pairwise(words) if first == flag]
        match = re.fullmatch(r"([0-9]{1,15})([kmg]?)", asked[0], re.IGNORECASE) if len(asked) == 1 else None
        if match is None:
            continue
        wanted = int(match[1]) * (1 if flag == "-t" else _SIZES[match[2].lower()])
        heads = _head_size(item.result.options.get(flag, ""))
        for one in filter(None, (known, heads)):
            if one != wanted:
                shown = str(one) if flag == "-t" else format_size(one)
                yield flag, f"the command line has {flag} {asked[0]}, and the output says {shown}"


def _head_size(text: str) -> int:
    """Return the bytes that a line such as `Record Size 1024 KB` states; 0 if it states none."""
    amount, _, unit = text.partition(" ")
    return int(amount) * 1024 if amount.isdigit() and unit.lower().startswith("k") else 0


def _unasked(item: Item, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield options that the output says were set, and that no word of the command line can be."""
    for flag, line in _LINES.items():
        letters = flag.removeprefix("-")
        if flag in item.result.options and not any(word.startswith("-") and letters in word for word in words):
            yield flag, f"the output says `{line}`, and the command line has no {flag}"


def unit_of_rates(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield outputs of iozone whose command line asks for another unit than the output says."""
    seen = set()
    for item in items:
        words = item.output.file.command.split()
        is_cell = item.output.file.tool == "iozone" and not item.is_throughput_test() and item.result.figures
        if not is_cell or not words or id(item.output) in seen:
            continue
        seen.add(id(item.output))
        unit = item.result.figures[-1].unit
        asked = next((flag for flag in ("-O", "-N") if flag in words), "")
        expected = {"-O": ("ops/sec",), "-N": ("us/op",)}.get(asked, ("kB/sec", "KB/sec"))
        if unit not in expected:
            asked_words = f"the command line has {asked}" if asked else "the command line has neither -O nor -N"
            text = f"{asked_words}, which gives {expected[0]}, and the output says {unit}"
            yield RuleFinding(item, text, {"unit": unit})


def excel_report(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield cells that iozone's own report below the table (`-R`) has otherwise."""
    for item in items:
        if "report" in item.figures:
            report, cell = item.figures["report"].text, item.result.figures[-2].text
            if report != cell:
                text = f"the table has {cell}, and the report below it {report}"
                yield RuleFinding(item, text, {"cell": cell, "report": report})


def weekday(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield outputs whose date has another day of the week than the calendar."""
    for item in first_of_outputs(items):
        began = began_at(item)
        if began is not None and not item.output.file.date.startswith(f"{began:%a}"):
            text = f"{began:%d %B %Y} was a {began:%A}, and the output says {item.output.file.date}"
            yield RuleFinding(item, text, {"date": item.output.file.date})


def began_at(item: Item) -> datetime | None:
    """Return when an output says that it began, local time; None if it does not say, or in another form."""
    try:
        return datetime.strptime(" ".join(item.output.file.date.split()), DATE)
    except ValueError:
        return None


def min_seconds(item: Item) -> float:
    """Return how long a test of iozone's throughput mode took at least, in which the fastest process had its file.

    0 for other results, and if the size of the files is not known.
    """
    if not item.is_throughput_test() or UNITS[item.figures["max"].unit].quantity != "bytes/s":
        return 0.0
    fastest = convert(item.figures["max"].text, item.figures["max"].unit)
    return float(item.parameter("file_size") / fastest) if fastest else 0.0


def _processes(item: Item) -> int:
    return item.parameter("lanes") or item.parameter("streams")
