"""Options of elbencho, all of them long, some with a letter (version 3.1, source/ProgArgs.h and ProgArgs.cpp)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.base import AssayError
from assay.model.units import choices_hint

_FLAGS = """
    allelapsed althttpsvc backward base10 cpu cufile cufiledriveropen cuhostbufreg deldirs delfiles direct
    dirsharing dirstats dropcache dryrun foreground gds gdsbufreg gpuperservice hdfs help help-all help-bdev
    help-dist help-large help-multi help-s3 infloop interrupt lat lathisto latpercent live1 live1n livecsvex livejsonex
    mkdirs mmap netbench no0usecerr nocsvlabels nodelerr nodetach nodiocheck nofdsharing nolive nopathexp
    norandalign nosvcshare opsloglock preallocfile quit rand read readinline s3aclget s3aclput s3aclputinl
    s3aclverify s3baclget s3baclput s3btag s3btagverify s3bversion s3bversionverify s3fastget s3fastput
    s3ignoreerrors s3listobjpar s3listverify s3mpucomplphase s3mpusharing s3multiignore404 s3nocompress s3nompcheck
    s3nompucompl s3olockcfg s3olockcfgverify s3otag s3otagverify s3randobj s3single s3sse s3statdirs s3virtaddr
    service stat statinline strided svcelapsed svcping sync treerand treeroundrob trunc trunctosize
    verifydirect version write
"""
_WITH_VALUE = """
    block blockvaralgo blockvarpct clients clientsfile configfile cores csvfile dirs fadv files flock gpuids hosts
    hostsfile iodepth iterations jsonfile label latpercent9s limitread limitwrite livecsv liveint livejson log
    madv netdevs numhosts opslog phasedelay port randalgo randamount rankoffset recvbuf resfile respsize
    rotatehosts rwmixpct rwmixthr rwmixthrpct s3aclgrantee s3aclgrants s3aclgtype s3checksumalgo s3chksumalgo
    s3credfile s3credlist s3endpoints s3key s3listobj s3log s3logprefix s3maxconns s3mpusizevar s3mpusplit
    s3multidel s3objprefix s3region s3secret s3sessiontoken s3sign s3sseckey s3ssekmskey s3targetgbps sendbuf
    servers serversfile sharesize size start svcpwfile svcupint svcwait threads timelimit treefile treeroundup
    treescan verify zones
"""
_OLD_FLAGS = "no0mserr notshared perthread randalign s3nomd5 s3transman"
_OLD_WITH_VALUE = "refresh"
"""Options of versions 1 and 2 that 3.1 has no more."""
LETTERS = {
    "b": "block", "c": "configfile", "d": "mkdirs", "D": "deldirs", "F": "delfiles", "h": "help", "i": "iterations",
    "n": "dirs", "N": "files", "r": "read", "s": "size", "t": "threads", "w": "write",
}  # fmt: skip
"""Letter -> long name."""
OPTIONS: dict[str, bool] = dict.fromkeys(_FLAGS.split(), False) | dict.fromkeys(_WITH_VALUE.split(), True)
"""Long name of each option of version 3.1 -> whether it takes a value."""
OLD_OPTIONS: dict[str, bool] = {
    **dict.fromkeys(_OLD_FLAGS.split(), False),
    **dict.fromkeys(_OLD_WITH_VALUE.split(), True),
}
_SHIFTS = {"K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}


class ElbenchoWords(NamedTuple):
    """A command line of elbencho.

    Attributes:
        values: Long name of each option -> its value; empty for options that take none.
        written: Long name -> the option as written.
        paths: The benchmark paths.
    """

    values: Mapping[str, str]
    written: Mapping[str, str]
    paths: tuple[str, ...]

    def has(self, name: str) -> bool:
        """Whether an option is given."""
        return name in self.values


def elbencho_words(words: Sequence[str]) -> ElbenchoWords:
    """Split the words behind `elbencho`, as Boost.Program_options does: `--read`, `--threads=4`, `-t4`, `-wr`.

    A long name may be shortened as long as only one begins so.

    Raises:
        AssayError: An option is unknown, lacks its value, or is given twice.
    """
    found: dict[str, str] = {}
    written: dict[str, str] = {}
    paths: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            paths += rest
            break
        if not word.startswith("-") or word == "-":
            paths.append(word)
            continue
        for name, value, text in _options(word, rest):
            if name in found and name != "path":
                raise AssayError(f"elbencho --{name} is given twice", "elbencho takes it once: leave one out")
            found[name], written[name] = value, text
    return ElbenchoWords(found, written, tuple(paths))


def _options(word: str, rest: list[str]) -> list[tuple[str, str, str]]:
    if not word.startswith("--"):
        return _short(word, rest)
    typed, equals, value = word[2:].partition("=")
    name = _full_name(typed)
    if not _takes_value(name):
        return [(name, "", f"--{name}")]
    if not equals:
        value = _next(rest, f"--{name}")
    return [(name, value, f"--{name} {value}")]


def _short(word: str, rest: list[str]) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for at, letter in enumerate(word[1:], start=2):
        name = LETTERS.get(letter)
        if name is None:
            known = " ".join(f"-{one}" for one in LETTERS)
            raise AssayError(f"elbencho has no option -{letter} (in {word!r})", f"known: {known}")
        if _takes_value(name):
            value = word[at:] or _next(rest, f"-{letter}")
            return [*found, (name, value, f"-{letter} {value}")]
        found.append((name, "", f"-{letter}"))
    return found


def _takes_value(name: str) -> bool:
    return OPTIONS[name] if name in OPTIONS else OLD_OPTIONS[name]


def _full_name(typed: str) -> str:
    known = {**OPTIONS, **OLD_OPTIONS}
    if typed in known:
        return typed
    found = [name for name in known if typed and name.startswith(typed)]
    if len(found) != 1:
        raise AssayError(f"elbencho has no option --{typed}", choices_hint(typed, found or sorted(OPTIONS)))
    return found[0]


def _next(rest: list[str], option: str) -> str:
    if not rest:
        raise AssayError(f"elbencho {option} lacks its value", f"write {option} VALUE")
    return rest.pop(0)


def elbencho_size(text: str, option: str) -> int:
    """Return a size in bytes as elbencho reads it (UnitTk.cpp, numHumanToBytesBinary): suffixes are powers of 1024.

    Raises:
        AssayError: elbencho would not read it.
    """
    digits, unit = (text[:-1], text[-1:].upper()) if text[-1:].isalpha() else (text, "")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 19 or (unit and unit not in _SHIFTS):
        raise AssayError(f"elbencho {option}: {text!r} is not a size", "write a number, or one with K, M, G or T: 16M")
    return int(digits) << _SHIFTS.get(unit, 0)


def elbencho_number(text: str, option: str) -> int:
    """Return a whole number.

    Raises:
        AssayError: It is none.
    """
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise AssayError(f"elbencho {option}: {text!r} is not a whole number", "write digits only")
    return int(text)
