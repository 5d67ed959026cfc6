"""From a command line of IOR to a study that asks the same."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.model.base import AssayError
from assay.model.study.kinds import kinds
from assay.model.units import format_size, one_of
from assay.plan.foreign.ior_options import DIRECTIVES, LETTERS, OF_MPI, TOLD
from assay.plan.foreign.line import Given, Line, Notes, binary_size, lanes_of, options_of, place_of, read_line, whole
from assay.plan.text import study_text

NAMES = ("ior",)
_SIZES = ("blocksize", "transfersize", "segmentcount", "randomprefill")
_FLAGS = {option.name for option in LETTERS.values() if not option.takes} | {"stonewallingwearout"}
_APIS = ("POSIX", "MPIIO", "MMAP", "AIO")
_PLACE = "assay-ior"


@dataclass
class Test:
    """One test of IOR: what its options and directives come to.

    Attributes:
        sizes: Name -> bytes, or a number of segments.
        texts: Name -> value, of all others that take one.
        counts: Name -> how often, or how much, a flag was given.
        texts_of: Name -> the option as it was written.
    """

    sizes: dict[str, int] = field(
        default_factory=lambda: {"blocksize": 1 << 20, "transfersize": 1 << 18, "segmentcount": 1}
    )
    texts: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    texts_of: dict[str, str] = field(default_factory=dict)

    def take(self, given: Given) -> None:
        """Add an option or a directive."""
        name = {"reordertasksconstant": "reordertasks"}.get(given.name, given.name)
        self.texts_of[name] = given.text
        if name in _SIZES:
            self.sizes[name] = binary_size(given.value, given.text.split()[0], "ior")
        elif name in _FLAGS:
            own = given.value and whole(given.value, given.text, "ior")
            self.counts[name] = int(own) if given.value else self.counts.get(name, 0) + 1
        else:
            self.texts[name] = given.value

    def has(self, name: str) -> bool:
        """A flag is set."""
        return self.counts.get(name, 0) > 0

    def number(self, name: str, least: int = 0) -> int | None:
        """The value of an option that is a whole number; None if it was not given."""
        text = self.texts.get(name)
        return None if text is None else whole(text, self.texts_of[name].split()[0], "ior", least)

    def copy(self) -> "Test":
        """The same, for the next test of a script."""
        return Test(dict(self.sizes), dict(self.texts), dict(self.counts), dict(self.texts_of))


def ior_study(text: str, read: Callable[[str], str], tasks: int | None = None) -> str:
    """A study file that asks what a command line of IOR asks.

    Args:
        text: The command line, with or without its launcher.
        read: Gives the text of a script file (`-f`).
        tasks: Tasks, whatever the command line says.

    Returns:
        The study, with a line at its head for each option that has no counterpart, or another meaning.

    Raises:
        AssayError: IOR would not take the command line.
    """
    line = read_line(text, NAMES)
    notes = Notes()
    tests = _tests(line, read, notes)
    first = tests[0]
    lanes = lanes_of(line, tasks, notes, first.number("numtasks", 1))
    names = ["ior"] if len(tests) == 1 else [f"test-{number}" for number in range(1, len(tests) + 1)]
    workloads = {name: _workload(test, lanes, notes) for name, test in zip(names, tests, strict=True)}
    study: dict[str, Any] = {"study": "from-ior", "targets": {"place": _target(first, notes)}, "workloads": workloads}
    study |= _whole(first, notes)
    return study_text(study, head(text, notes))


def head(text: str, notes: Notes) -> Iterator[str]:
    """What a study says at its head of the command line that it was made from."""
    yield f"From: {' '.join(text.split())}"
    yield ""
    yield "  assay plan FILE     what will be done, how long, how many bytes"
    yield "  assay run FILE      do it"
    if notes.lines:
        yield ""
        yield "Where it is not the same:"
        yield from (f"* {note}" for note in notes.lines)


def _tests(line: Line, read: Callable[[str], str], notes: Notes) -> list[Test]:
    test = Test()
    for given in options_of(line, LETTERS, "ior"):
        if given.name == "help":
            raise AssayError("ior -h tests nothing", "write a command line that writes or reads")
        if given.name == "directives":
            for one in _directives(given.value, given.text):
                test.take(one)
        else:
            test.take(given)
    script = test.texts.pop("script", None)
    tests = _script(read(script), script, test) if script is not None else [test]
    for found in tests:
        _refuse(found)
        _tell(found, notes)
    return tests


def _directives(text: str, shown: str) -> Iterator[Given]:
    for part in filter(None, (piece.strip() for piece in text.partition("#")[0].split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        name = key.lower().removeprefix("--").removeprefix("posix.").replace("odirect", "useo_direct")
        name = {"useo_useo_direct": "useo_direct"}.get(name, name)
        if not equals or not value:
            raise AssayError(f"ior {shown}: {part!r} is no directive", "write KEY=VALUE, such as stoneWallingWearOut=1")
        if name not in DIRECTIVES:
            raise AssayError(f"ior {shown}: there is no directive {key!r}", one_of(name, sorted(DIRECTIVES)))
        yield Given(name, value, f"{key}={value}")


def _script(text: str, path: str, first: Test) -> list[Test]:
    """The tests of a script file: what stands between IOR START and IOR STOP, one test up to each RUN."""
    tests: list[Test] = []
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
                    current.take(one)
    if pending:
        tests.append(current)
    if not tests:
        raise AssayError(f"{path}: no test is in it", "a script has IOR START, KEY=VALUE lines, RUN and IOR STOP")
    return tests


def _refuse(test: Test) -> None:
    """What IOR itself refuses."""
    block, transfer = test.sizes["blocksize"], test.sizes["transfersize"]
    if transfer < 1 or block < transfer or block % transfer:
        message = f"ior: the block size, {block}, is no multiple of the transfer size, {transfer}"
        raise AssayError(message, "change -b or -t")
    if test.sizes["segmentcount"] < 1:
        raise AssayError("ior: -s is below 1", "write -s 1 or more")
    api = test.texts.get("api", "POSIX").upper()
    if api not in _APIS:
        raise AssayError(
            f"ior -a {api}: there is no such target", "use -a POSIX or -a MPIIO, or write the study yourself"
        )
    if test.has("reordertasks") and test.has("reordertasksrandom"):
        raise AssayError("ior: -C and -Z exclude each other", "leave one out")
    if test.has("stonewallingwearout") and not test.number("deadlineforstonewalling"):
        raise AssayError("ior: stoneWallingWearOut needs a deadline", "add -D SECONDS")
    if not test.has("fileperproc") and test.has("randomoffset"):
        other = next((name for name in ("reordertasks", "reordertasksrandom") if test.has(name)), None)
        if other:
            message = f"ior: {test.texts_of[other]} and -z exclude each other in one shared file"
            raise AssayError(message, "leave one out, or add -F")


def _tell(test: Test, notes: Notes) -> None:
    for name, text in test.texts_of.items():
        if name in TOLD:
            notes.add(text, TOLD[name])


def _workload(test: Test, lanes: Mapping[str, int], notes: Notes) -> dict[str, Any]:
    found: dict[str, Any] = {"operations": _operations(test, notes)}
    found["layout"] = "separate" if test.has("fileperproc") else "shared"
    found["segments"] = test.sizes["segmentcount"]
    found["block_size"] = format_size(test.sizes["blocksize"])
    found["record_size"] = format_size(test.sizes["transfersize"])
    found |= lanes
    found |= _order(test, notes)
    found |= _time(test, notes)
    found["cache"] = "direct" if test.has("useo_direct") else "keep"
    if not test.has("useo_direct"):
        notes.add(
            "cache: keep", "as IOR, which leaves the page cache alone: results may be memory's, and are judged so"
        )
    found["sync"] = _sync(test, notes)
    if test.has("preallocate"):
        found["preallocate"] = True
    if test.has("checkread") or test.has("checkwrite"):
        found["verify"] = True
    if test.texts.get("api", "").upper() == "MMAP":
        found["method"] = "mmap"
    found |= _mpi(test, notes)
    return found


def _operations(test: Test, notes: Notes) -> list[str]:
    # Without any of them IOR writes and reads.
    asked = [name for name in ("writefile", "readfile", "checkwrite", "checkread") if test.has(name)]
    writes = "writefile" in asked or not asked
    reads = not asked or any(name in asked for name in ("readfile", "checkread", "checkwrite"))
    if test.has("checkwrite") and not (test.has("readfile") or test.has("checkread")):
        notes.add("-W", "what was written is read in a phase of its own, which checks every byte")
    shuffled = test.has("randomoffset")
    if shuffled and test.counts["randomoffset"] > 1:
        notes.add("-z -z", "each transfer comes exactly once, in random order; none overlap")
    if shuffled:
        notes.add("-z", "each transfer comes exactly once; which one when is not what IOR's random numbers make it")
    if writes and shuffled:
        notes.add("-w -z", "random_write goes over a file that was prepared, outside the timing; IOR writes a new one")
    if writes and test.has("useexistingtestfile"):
        notes.add("-E", "write empties the file first; rewrite goes over one that is there")
    if reads and not writes:
        notes.add("-r without -w", "what is read is written first, outside the timing")
    found = ["random_write" if shuffled else "write"] if writes else []
    return [*found, "random_read" if shuffled else "read"] if reads else found


def _order(test: Test, notes: Notes) -> dict[str, Any]:
    by = test.number("taskpernodeoffset")
    if test.has("reordertasks"):
        return {"reorder": "node", **({"reorder_by": by} if by and by > 1 else {})}
    if test.has("reordertasksrandom"):
        if test.counts["reordertasksrandom"] == 1:
            notes.add(
                "-Z",
                "each part is read by one lane, as with IOR's -Z -Z; by -Z alone IOR reads some twice, others never",
            )
        return {"reorder": "random"}
    if by is not None:
        notes.add(test.texts_of["taskpernodeoffset"], "it has no effect without -C or -Z")
    return {}


def _time(test: Test, notes: Notes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    deadline, least = test.number("deadlineforstonewalling"), test.number("mintimeduration")
    if least:
        notes.add(test.texts_of["mintimeduration"], "runtime: goes over the data until then, and ends there")
        return {"runtime": f"{least}s"}
    if deadline:
        found["time_limit"] = f"{deadline}s"
        if test.has("stonewallingwearout"):
            found["wear_out"] = True
            if test.has("readfile") or not test.has("writefile"):
                notes.add(test.texts_of["deadlineforstonewalling"], "reads go over all that was written, however long")
    return found


def _sync(test: Test, notes: Notes) -> str:
    if test.has("fsyncperwrite"):
        notes.add("-Y", "o_dsync: every write is stable when it ends, without a call of its own")
        return "o_dsync"
    if not test.has("fsync"):
        notes.add("sync: none", "as IOR without -e: the data may still be in memory when the clock stops")
    return "fsync" if test.has("fsync") else "none"


def _mpi(test: Test, notes: Notes) -> dict[str, Any]:
    """What only MPI-IO has: fields of workloads where this Assay has the kind."""
    known = test.texts.get("api", "").upper() == "MPIIO" and "mpiio" in kinds()
    found: dict[str, Any] = {}
    for name, why in OF_MPI.items():
        if name in test.counts or name in test.texts:
            if name == "collective" and known:
                found["collective"] = True
            else:
                notes.add(test.texts_of[name], why if known and name != "collective" else "for MPI-IO only")
    return found


def _target(test: Test, notes: Notes) -> dict[str, Any]:
    name = test.texts.get("testfile", "")
    folder, slash, _ = name.rpartition("/")
    path = place_of(folder or slash, _PLACE, "ior -o")
    if name:
        notes.add(f"-o {shlex.quote(name)}", f"files go to {path}, which Assay makes and removes")
    else:
        notes.add("-o", f"it was not given: files go to {path}")
    if test.texts.get("api", "").upper() == "MPIIO":
        if "mpiio" in kinds():
            return {"kind": "mpiio", "path": path}
        notes.add("-a MPIIO", "this Assay has no target of kind mpiio: POSIX instead")
    return {"kind": "file", "path": path}


def _whole(test: Test, notes: Notes) -> dict[str, Any]:
    """What is said of the study as a whole."""
    found: dict[str, Any] = {"repeats": test.number("repetitions", 1) or 1}
    if found["repeats"] < 3:
        notes.add(f"-i {found['repeats']}", "an interval needs 3 repeats at least: change repeats")
    seed = test.number("settimestampsignature")
    if seed:
        found["seed"] = seed
    if test.has("keepfile"):
        found["output"] = {"keep_files": True}
    return found
