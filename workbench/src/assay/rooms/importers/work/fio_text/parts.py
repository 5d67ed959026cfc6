"""The parts of what fio prints as text: jobs before the run, results, groups, disks, and lines of terse output."""

import re
from dataclasses import dataclass, field

from assay.model.escape import escape_line
from assay.rooms.importers.work.fio_measured import HINT, MAX_JOBS, MAX_NAME
from assay.rooms.importers.work.fio_text.amounts import Kind, amount_of
from assay.rooms.importers.work.fio_text.job_lines import HEADER, LIKE_HEADER, Headers, header_of
from assay.rooms.importers.work.fio_text.result_lines import RESULT, TextJob
from assay.rooms.importers.work.fio_text.terse import LIKE_TERSE, TERSE, TerseJob, terse_job, without_snapshots
from assay.rooms.importers.work.fio_text.typed_command import MAX_COMMAND, TypedCommand, begins_command, read_command
from assay.rooms.importers.work.long_text import Text, each_line
from assay.rooms.importers.work.results import Figure, OutputError

_MAX_LINES = 500
"""Lines of terse output after which it is looked which of them later ones count again."""
_LIKE_RESULT = re.compile(r".{0,300}: \(groupid=")
_OLD_RESULT = re.compile(r".{0,300}: \(groupid=[0-9]+, jobs=[0-9]+\): err=.{0,300}: pid=[0-9]+\s*")
_VERSION = re.compile(r"fio-([0-9][\w.+~-]{0,40})\s*")
_MARGIN = " \t>"
_STARTING = re.compile(r"Starting [0-9]+ (?:thread|process)")
_CLIENT = re.compile(r"hostname=\S+, be=[01], |<[^>]{1,200}> .{0,300}: \(groupid=|All clients: \(groupid=")
_GROUP = re.compile(r"Run status group ([0-9]{1,9}) \(all jobs\):\s*")
_BARE_GROUP = ("READ: ", "WRITE: ", "TRIM: ", "MIXED: ")
_LIKE_GROUP = re.compile(r"Run status group|\s+(?:READ|WRITE|TRIM|MIXED): ")
_DISKS = re.compile(r"Disk stats \(read/write\):\s*")
_GROUP_LINE = re.compile(
    r"\s+(READ|WRITE|TRIM|MIXED): bw=(\S+) \((\S+)\), ([^\s-]+)-(\S+) \(([^\s-]+)-([^\s)]+)\), io=(\S+) \((\S+)\), "
    r"run=([0-9]{1,15})-([0-9]{1,15})msec\s*"
)
_GROUP_NAMES: tuple[str, ...] = (
    "bw",
    "bw_alt",
    "bw_min",
    "bw_max",
    "bw_min_alt",
    "bw_max_alt",
    "io_bytes",
    "io_bytes_alt",
)
_OLD_GROUP_LINE = re.compile(
    r"\s+(READ|WRITE|TRIM|MIXED): io=(\S+), aggrb=(\S+), minb=(\S+), maxb=(\S+), mint=([0-9]{1,15})msec, "
    r"maxt=([0-9]{1,15})msec\s*"
)
_OLD_GROUP_NAMES: tuple[str, ...] = ("io_bytes", "bw", "bw_min", "bw_max")
_PAIR = r"([0-9]{1,20})/([0-9]{1,20})"
_DISK = re.compile(
    rf"\s+(\S{{1,80}}): ios={_PAIR}(?:, sectors={_PAIR})?, merge={_PAIR}, ticks={_PAIR}, in_queue=([0-9]{{1,20}}), "
    rf"util=([0-9]{{1,3}}\.[0-9]{{2}})%(?:, aggrios={_PAIR}(?:, aggsectors={_PAIR})?, aggrmerge={_PAIR}, "
    rf"aggrticks={_PAIR}, aggrin_queue=([0-9]{{1,20}}), aggrutil=([0-9]{{1,3}}\.[0-9]{{2}})%)?\s*"
)
_DISK_PARTS = ("ios", "sectors", "merges", "ticks")
_DISK_NAMES = (
    *(f"{way}_{part}" for part in _DISK_PARTS for way in ("read", "write")),
    "in_queue",
    "util",
)


@dataclass
class TextOutput:
    """What one run of fio printed.

    Attributes:
        line: Line on which it begins, from 1.
        command: The command line above it; one that says nothing without one.
        version: As printed; empty if it is not.
        headers: Jobs before the run.
        jobs: Results, in order.
        terse: Results of the terse output.
        reports: Number of reports; more than one with --status-interval.
        groups: Report and group -> figures of the group.
        disks: Report -> figures of disks.
    """

    line: int
    command: TypedCommand = field(default_factory=TypedCommand)
    version: str = ""
    headers: Headers = field(default_factory=Headers)
    jobs: list[TextJob] = field(default_factory=list)
    terse: list[TerseJob] = field(default_factory=list)
    reports: int = 0
    groups: dict[tuple[int, int], list[Figure]] = field(default_factory=dict)
    disks: dict[int, list[Figure]] = field(default_factory=dict)

    def count_again(self) -> None:
        """Forget jobs that the report at hand counts again, except the first report of each."""
        now = {job.key: job for job in self.jobs if job.report == self.reports}
        kept = []
        for job in self.jobs:
            later = now.get(job.key) if job.report < self.reports and not job.later else None
            if later is not None:
                later.first = job.first or job
                later.first.later += 1
            if later is None or later.first is job:
                kept.append(job)
        if len(kept) < len(self.jobs):
            self.jobs = kept
            reports = {job.report for job in kept}
            self.groups = {key: figures for key, figures in self.groups.items() if key[0] in reports}
            self.disks = {key: figures for key, figures in self.disks.items() if key in reports}

    @property
    def has_begun(self) -> bool:
        """Whether the jobs before the run are complete."""
        return bool(self.version or self.jobs or self.terse)

    @property
    def has_right_fractions(self) -> bool:
        """Whether the version writes decimals of rounded numbers as such; it does since 2.20."""
        numbers = re.match(r"([0-9]{1,3})\.([0-9]{1,3})", self.version)
        return numbers is None or (int(numbers[1]), int(numbers[2])) >= (2, 20)


def is_printed(text: str) -> bool:
    """Whether a text has lines of fio's normal or terse output."""
    lines = re.finditer(r"^.*(?:: \(groupid=|: \(g=|;).*$", text, re.MULTILINE)
    return any(one.fullmatch(_last(line[0])) for line in lines for one in (RESULT, HEADER, TERSE))


def outputs_of(text: Text) -> list[TextOutput]:
    """Return what each run of fio printed, in order.

    Raises:
        OutputError: It is not what fio prints.
    """
    reader = _Reader()
    for number, line in enumerate(each_line(text), start=1):
        reader.read_line(_last(line), number)
    reader.end_job()
    for output in reader.outputs:
        output.count_again()
        _check_end(output)
    return reader.outputs


def _check_end(output: TextOutput) -> None:
    """Refuse an output without an end; an excerpt, which has no beginning either, may lack it.

    Raises:
        OutputError: It has no results, or no groups after them.
    """
    hint = "give the whole output; fio prints results when all jobs have ended"
    if not output.jobs and not output.terse and not output.reports:
        raise OutputError(output.line, "jobs without results: the output is cut off, or fio was stopped", hint)
    if output.jobs and output.version and output.jobs[-1].report >= output.reports:
        line = output.jobs[-1].line
        raise OutputError(line, "no `Run status group` after this result: the output is cut off", hint)


def _last(line: str) -> str:
    """Return what a terminal shows of a line: progress (`Jobs: 1 (f=1): [R(1)]...`) ends in carriage returns."""
    return line.rstrip("\r").rpartition("\r")[2] if "\r" in line else line


class _Reader:
    """Reads lines one by one.

    Attributes:
        outputs: Those found.
    """

    def __init__(self) -> None:
        self.outputs: list[TextOutput] = []
        self._job: TextJob | None = None
        self._group: int | None = None
        self._is_disks = False
        self._margin = ""
        self._typed, self._goes_on = "", False

    def _without_margin(self, line: str) -> str:
        """Return a line without what stands before every line of a text that is indented or quoted (`> `)."""
        bare = line.lstrip(_MARGIN)
        if ": (g" in bare and (HEADER.fullmatch(bare) or RESULT.fullmatch(bare)):
            self._margin = line[: len(line) - len(bare)]
        return line.removeprefix(self._margin) if bare else ""

    def read_line(self, line: str, number: int) -> None:
        """Take a line.

        Raises:
            OutputError: It is damaged.
        """
        line = self._without_margin(line)
        if self._goes_on or (typed := begins_command(line)):
            self._typed = f"{self._typed}\n{line}"[:MAX_COMMAND] if self._goes_on else typed
            self._goes_on = line.rstrip().endswith("\\")
            return
        if (match := HEADER.fullmatch(line)) is not None:
            if not self.outputs or self.outputs[-1].has_begun:
                self._begin(number)
            self.outputs[-1].headers.add(header_of(match, number))
        elif (match := _VERSION.fullmatch(line)) is not None:
            if not self.outputs or self.outputs[-1].has_begun:
                self._begin(number)
            self.outputs[-1].version = match[1]
        elif _CLIENT.match(line):
            raise OutputError(
                number, "results of `fio --client` are not read yet", "run fio on each host, and give all files"
            )
        elif (match := RESULT.fullmatch(line)) is not None:
            self._begin_job(match, number)
        elif LIKE_TERSE.match(line):
            self.end_job()
            output = self._current(number)
            self._check_count(len(output.terse), number)
            output.terse.append(terse_job(line, number))
            if len(output.terse) % _MAX_LINES == 0:
                output.terse = without_snapshots(output.terse, is_whole=False)
        elif _OLD_RESULT.fullmatch(line):
            raise OutputError(number, "a result of fio before 2.1, which is not read", "measure with fio 2.2 or later")
        elif LIKE_HEADER.match(line) or _LIKE_RESULT.match(line):
            raise OutputError(number, f"not a line that fio prints: {escape_line(line.strip(), MAX_NAME)}", HINT)
        else:
            self._read_part(line, number)

    def _read_part(self, line: str, number: int) -> None:
        """Take a line that is none of the first ones of a part."""
        if not line.strip():
            self.end_job()
        elif (match := _GROUP.fullmatch(line)) is not None:
            self._begin_group(int(match[1]), number)
        elif _DISKS.fullmatch(line):
            # Before any output of fio it is a word of other lines.
            self._is_disks, self._group = bool(self.outputs), None
            self.end_job()
        elif self._job is not None:
            # Pages and mail programs take away the blanks at the beginnings of lines.
            self._job.read_line(line if line[0].isspace() else f" {line}", number)
        elif self._group is not None and line.startswith(_BARE_GROUP):
            self._add_group_line(f" {line}", number)
        elif not line[0].isspace():
            return
        elif self._group is not None and _LIKE_GROUP.match(line):
            self._add_group_line(line, number)
        elif self._is_disks and ": ios=" in line:
            self._add_disk(line, number)

    def end_job(self) -> None:
        """End the lines of a result."""
        if self._job is not None:
            self._job.check_complete()
        self._job = None

    def _begin(self, number: int) -> None:
        self.end_job()
        self._group, self._is_disks = None, False
        self.outputs.append(TextOutput(number, read_command(self._typed) if self._typed else TypedCommand()))
        self._typed = ""

    def _current(self, number: int) -> TextOutput:
        if not self.outputs:
            self._begin(number)
        return self.outputs[-1]

    def _begin_job(self, match: re.Match[str], number: int) -> None:
        self.end_job()
        output = self._current(number)
        self._group, self._is_disks = None, False
        self._check_count(len(output.jobs), number)
        self._job = TextJob(
            name=escape_line(match[1], MAX_NAME) or "job",
            group=int(match[2]),
            jobs=int(match[3]),
            error=int(match[4]),
            pid=match[6],
            date=escape_line(match[7], MAX_NAME),
            line=number,
            report=output.reports,
            has_right_fractions=output.has_right_fractions,
        )
        for name, text in (("groupid", match[2]), ("jobs", match[3]), ("error", match[4])):
            self._job.add(name, text)
        output.jobs.append(self._job)

    def _check_count(self, jobs: int, number: int) -> None:
        if jobs == MAX_JOBS:
            raise OutputError(number, f"more than {MAX_JOBS:,} jobs", "give several smaller files")

    def _begin_group(self, group: int, number: int) -> None:
        self.end_job()
        output = self._current(number)
        if self._group is None:
            output.count_again()
            output.reports += 1
        self._group, self._is_disks = group, False

    def _add_group_line(self, line: str, number: int) -> None:
        output = self.outputs[-1]
        assert self._group is not None
        figures = output.groups.setdefault((output.reports - 1, self._group), [])
        try:
            if (match := _GROUP_LINE.fullmatch(line)) is not None:
                names, is_old, times = _GROUP_NAMES, False, match.group(10, 11)
            elif (match := _OLD_GROUP_LINE.fullmatch(line)) is not None:
                names, is_old, times = _OLD_GROUP_NAMES, True, match.group(6, 7)
            else:
                raise ValueError("not a line that fio prints")
            place = f"group.{match[1].lower()}"
            for name, word in zip(names, match.groups()[1:], strict=False):
                kind: Kind = "bytes" if name.startswith("io") else "bytes/s"
                figures.append(amount_of(word, kind, is_old).figure(f"{place}.{name}"))
        except ValueError as error:
            shown = escape_line(line.strip(), MAX_NAME)
            raise OutputError(number, f"group {self._group}: {error}: {shown}", HINT) from None
        figures += [
            Figure(f"{place}.{name}", time, "ms") for name, time in zip(("run_min", "run_max"), times, strict=True)
        ]

    def _add_disk(self, line: str, number: int) -> None:
        match = _DISK.fullmatch(line)
        if match is None:
            shown = escape_line(line.strip(), MAX_NAME)
            raise OutputError(number, f"disks: not a line that fio prints: {shown}", HINT)
        output = self.outputs[-1]
        name, *numbers = match.groups()
        half = len(_DISK_NAMES)
        for place, found in ((name, numbers[:half]), (f"{name}.slaves", numbers[half:])):
            for key, text in zip(_DISK_NAMES, found, strict=True):
                if text is not None:
                    unit = {"ticks": "ms", "queue": "ms", "util": "%"}.get(key.rpartition("_")[2], "")
                    output.disks.setdefault(max(0, output.reports - 1), []).append(
                        Figure(f"disk.{escape_line(place, MAX_NAME)}.{key}", text, unit)
                    )
