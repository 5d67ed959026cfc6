"""The tests of an IOR command line, checked by IOR's own rules."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from assay.model.base import AssayError
from assay.model.study.kinds import kinds
from assay.model.units import choices_hint
from assay.plan.command_lines.ior_options import DIRECTIVES, LETTERS
from assay.plan.command_lines.options import ParsedOption, binary_size, options_of, whole_number

_SIZES = ("blocksize", "transfersize", "segmentcount", "randomprefill")
_FLAGS = {option.name for option in LETTERS.values() if not option.takes_value} | {"stonewallingwearout"}
_APIS = ("POSIX", "MPIIO", "MMAP", "AIO")
_ACCESS_BYTES = 8
"""IOR's sizes must be multiples of it (sizeof(IOR_size_t))."""


@dataclass
class IorTest:
    """One test of IOR: the result of its options and directives.

    Attributes:
        sizes: Name -> bytes, or number of segments.
        texts: Name -> value, for other options with a value.
        counts: Name -> how often a flag was given, or its value as a directive.
        texts_of: Name -> the option as it was written.
    """

    sizes: dict[str, int] = field(
        default_factory=lambda: {"blocksize": 1 << 20, "transfersize": 1 << 18, "segmentcount": 1}
    )
    texts: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    texts_of: dict[str, str] = field(default_factory=dict)

    def apply(self, option: ParsedOption) -> None:
        """Apply an option or a directive."""
        name = {"reordertasksconstant": "reordertasks"}.get(option.name, option.name)
        self.texts_of[name] = option.text
        if name in _SIZES:
            self.sizes[name] = binary_size(option.value, option.text.split()[0], "ior")
        elif name in _FLAGS:
            flag_value = option.value and whole_number(option.value, option.text, "ior")
            self.counts[name] = int(flag_value) if option.value else self.counts.get(name, 0) + 1
        else:
            self.texts[name] = option.value

    def has(self, name: str) -> bool:
        """Return whether a flag is set."""
        return self.counts.get(name, 0) > 0

    def number(self, name: str, least: int = 0) -> int | None:
        """Return the value of an option that is a whole number; None if it was not given."""
        text = self.texts.get(name)
        return None if text is None else whole_number(text, self.texts_of[name].split()[0], "ior", least)

    @property
    def api(self) -> str:
        """Name of its interface, in capitals."""
        return self.texts.get("api", "POSIX").upper()

    @property
    def uses_mpi(self) -> bool:
        """Whether it uses MPI-IO, and this installation has the kind mpiio."""
        return self.api == "MPIIO" and "mpiio" in kinds()

    @property
    def writes(self) -> bool:
        """Whether it writes; without any option for this IOR writes and reads."""
        return self.has("writefile") or not self._has_phases

    @property
    def reads(self) -> bool:
        """Whether it reads, or verifies what was written."""
        return not self._has_phases or any(self.has(name) for name in ("readfile", "checkread", "checkwrite"))

    @property
    def _has_phases(self) -> bool:
        return any(self.has(name) for name in ("writefile", "readfile", "checkwrite", "checkread"))

    @property
    def has_full_random_order(self) -> bool:
        """Whether the random order is over the whole file (-z -z) and not within each block (-z).

        With one transfer per block, -z has an effect only before version 4.0, where it is over the whole file.
        """
        whole_blocks = self.sizes["blocksize"] == self.sizes["transfersize"]
        return self.counts.get("randomoffset", 0) > (0 if whole_blocks else 1)

    def bytes(self, tasks: int) -> int:
        """Return the bytes of all files together for a number of tasks."""
        return self.sizes["segmentcount"] * self.sizes["blocksize"] * tasks

    def copy(self) -> "IorTest":
        """Return a copy, for the next test of a script."""
        return IorTest(dict(self.sizes), dict(self.texts), dict(self.counts), dict(self.texts_of))


def options_as_test(words: Sequence[str]) -> IorTest:
    """Return what the options of a command line set, whether or not IOR would refuse it.

    Args:
        words: The words after the program.

    Raises:
        AssayError: One is no option, or lacks its value.
    """
    test = IorTest()
    for option in options_of(words, LETTERS, "ior"):
        if option.name == "directives":
            for one in _directives(option.value, option.text):
                test.apply(one)
        else:
            test.apply(option)
    return test


def tests_of(words: Sequence[str], read: Callable[[str], str]) -> list[IorTest]:
    """Return the tests of a command line, in order.

    Args:
        words: The words after the program.
        read: Returns the text of a script file (`-f`).

    Raises:
        AssayError: IOR would refuse it.
    """
    test = options_as_test(words)
    if test.has("help"):
        raise AssayError("ior -h tests nothing", "write a command line that writes or reads")
    script = test.texts.pop("script", None)
    tests = _script(read(script), script, test) if script is not None else [test]
    for found in tests:
        _refuse(found)
    return tests


_HINTS = dict.fromkeys(
    ("direct", "o_direct", "directio"),
    "IOR writes --posix.odirect, or useO_DIRECT=1 in a script; a study cache: direct",
)
"""Word that is often mistaken for a directive -> hint."""


def _directives(text: str, shown: str) -> Iterator[ParsedOption]:
    for part in filter(None, (piece.strip() for piece in text.partition("#")[0].split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        name = key.lower().removeprefix("--").removeprefix("posix.").replace("odirect", "useo_direct")
        name = {"useo_useo_direct": "useo_direct"}.get(name, name)
        if not equals or not value:
            raise AssayError(
                f"ior {shown}: {part!r} is not a directive", "write KEY=VALUE, such as stoneWallingWearOut=1"
            )
        if name not in DIRECTIVES:
            hint = _HINTS.get(name) or choices_hint(name, sorted(DIRECTIVES))
            raise AssayError(f"ior {shown}: there is no directive {key!r}", hint)
        yield ParsedOption(name, value, f"{key}={value}")


def _script(text: str, path: str, first: IorTest) -> list[IorTest]:
    """Return the tests of a script file: the lines between IOR START and IOR STOP, one test up to each RUN."""
    tests: list[IorTest] = []
    current, inside, pending = first, False, False
    for number, raw in enumerate(text.splitlines(), 1):
        words = raw.split("#", 1)[0].strip()
        match words.lower():
            case "":
                continue
            case "ior start":
                inside = True
            case "ior stop":
                break
            case "run" if inside:
                tests.append(current)
                current, pending = current.copy(), False
            case _ if inside:
                pending = True
                for one in _directives(words, f"{path}:{number}"):
                    current.apply(one)
    if pending:
        tests.append(current)
    if not tests:
        raise AssayError(f"{path} contains no test", "a script has IOR START, KEY=VALUE lines, RUN and IOR STOP")
    return tests


def _refuse(test: IorTest) -> None:
    """Refuse what IOR itself refuses."""
    if test.api not in _APIS:
        message = f"ior -a {test.api}: there is no such target"
        raise AssayError(message, "use -a POSIX or -a MPIIO, or write the study yourself")
    _refuse_sizes(test)
    if test.has("reordertasks") and test.has("reordertasksrandom"):
        raise AssayError("ior: -C and -Z exclude each other", "leave one out")
    if test.has("stonewallingwearout") and not test.number("deadlineforstonewalling"):
        raise AssayError("ior: stoneWallingWearOut needs a deadline", "add -D SECONDS")
    if test.has("checkread") and not test.writes and "settimestampsignature" not in test.texts:
        raise AssayError("ior: -R without -w needs the signature of what was written", "add -G NUMBER, or -w")
    several = "@" in test.texts.get("testfile", "")
    if several and test.has("uniquedir"):
        raise AssayError("ior: several files in -o and -u exclude each other", "leave -u out, or name one file")
    if test.has("randomoffset"):
        _refuse_random(test)


def _refuse_sizes(test: IorTest) -> None:
    block, transfer = test.sizes["blocksize"], test.sizes["transfersize"]
    for letter, size in (("-t", transfer), ("-b", block)):
        if size % _ACCESS_BYTES:
            message = f"ior {letter}: {size} is not a multiple of {_ACCESS_BYTES} bytes, which IOR's accesses have"
            raise AssayError(message, f"change {letter}")
    if transfer < 1:
        raise AssayError("ior -t: a transfer of 0 bytes moves nothing", "write for example -t 1m")
    if block < transfer:
        message = f"ior: the block size, {block}, is below the transfer size, {transfer}"
        raise AssayError(message, "raise -b, or lower -t")
    if block % transfer:
        message = f"ior: the block size, {block}, is not a multiple of the transfer size, {transfer}"
        raise AssayError(message, "change -b or -t")
    if test.sizes["segmentcount"] < 1:
        raise AssayError("ior: -s is below 1", "write -s 1 or more")


def _refuse_random(test: IorTest) -> None:
    other = next((name for name in ("reordertasks", "reordertasksrandom") if test.has(name)), None)
    if other and not test.has("fileperproc"):
        message = f"ior: {test.texts_of[other]} and -z exclude each other in one shared file"
        raise AssayError(message, "leave one out, or add -F")
    if test.api == "MPIIO" and test.has("collective"):
        raise AssayError("ior: -c and -z exclude each other with -a MPIIO", "leave one out")
    if test.has("checkread") and test.number("randomseed", -1) in (None, -1):
        message = "ior: -R with -z needs the order in which the data was written"
        raise AssayError(message, "add --random-offset-seed=NUMBER, or leave one out")
