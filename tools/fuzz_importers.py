"""Fuzz the readers of other tools' outputs, guided by coverage, with the samples of the tests to start from.

    .venv/bin/python -m pip install atheris
    .venv/bin/python tools/fuzz_importers.py [--seconds 600] [WORD ..]

Each importer whose name or forms contain a WORD gets a process of its own, one after the other; without a WORD all do.
Its text is read and audited. A crash is any exception but a refusal; an input that takes longer than ten seconds or
more than 500 MB ends the process, too. What was found lies in `target/fuzz/`. The exit code is 1 if there was any.
"""

import argparse
import hashlib
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "workbench" / "tests" / "golden" / "imports"
FOUND = ROOT / "target" / "fuzz"
MAX_BYTES = 64 << 10
"""Longest input."""
_NUMBER = re.compile(rb"[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?")
_NUMBERS = (
    b"0",
    b"-1",
    b"1",
    b"0.0",
    b"1e308",
    b"1e999",
    b"nan",
    b"-0",
    b"4294967296",
    b"18446744073709551616",
    b"9" * 400,
    b"",
)


def main() -> int:
    """Fuzz each importer that was asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600, help="how long each importer is fuzzed")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*", metavar="WORD")
    given = parser.parse_args()
    if given.one is not None:
        return fuzz(given.one, given.seconds)
    from assay.rooms.importers.work.tools import IMPORTERS

    failed = []
    for number, importer in enumerate(IMPORTERS):
        if given.words and not any(word in f"{importer.name} {importer.forms}" for word in given.words):
            continue
        print(f"{importer.forms}: {given.seconds} s", flush=True)
        command = [sys.executable, __file__, "--one", str(number), "--seconds", str(given.seconds)]
        if subprocess.run(command, check=False).returncode:
            failed.append(importer.forms)
    for forms in failed:
        print(f"failed: {forms}; see {FOUND}")
    return 1 if failed else 0


def fuzz(number: int, seconds: int) -> int:
    """Fuzz one importer in this process, which ends with it."""
    import atheris

    with atheris.instrument_imports(include=["assay.rooms.importers"]):
        from assay.model.result.imported import ImportedFile
        from assay.rooms.importers.audit.facts import read_facts
        from assay.rooms.importers.audit.rules import audit
        from assay.rooms.importers.work.results import STATED_NOTHING, OutputError, RolesNeeded
        from assay.rooms.importers.work.tools import IMPORTERS

    importer, facts = IMPORTERS[number], read_facts("")
    known = ImportedFile(tool=importer.name, version="", form="", file="f", line=1, sha256="0" * 64, size_bytes=1)

    def one(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        if not importer.recognise(text):
            return
        try:
            outputs = importer.read(text, known, STATED_NOTHING)
        except (OutputError, RolesNeeded):
            return
        audit(outputs, facts)

    def changed(data: bytes, size: int, seed: int) -> bytes:
        draw = random.Random(seed)
        return _changed_lines(data, draw)[:size] if draw.random() < 0.5 else bytes(atheris.Mutate(data, size))

    corpus = _corpus(number, importer.recognise)
    limits = [f"-max_total_time={seconds}", f"-max_len={MAX_BYTES}", "-timeout=10", "-rss_limit_mb=500"]
    shown = [f"-artifact_prefix={FOUND}/{number}-", "-print_final_stats=1", "-verbosity=0"]
    atheris.Setup([sys.argv[0], str(corpus), *limits, *shown], one, custom_mutator=changed)
    atheris.Fuzz()
    return 0


def _changed_lines(data: bytes, draw: random.Random) -> bytes:
    """Return a text with one line left out, doubled or moved, or one number replaced."""
    lines = data.split(b"\n")
    place = draw.randrange(len(lines))
    what = draw.randrange(4)
    if what == 0:
        del lines[place]
    elif what == 1:
        lines.insert(draw.randrange(len(lines)), lines[place])
    elif what == 2:
        lines.insert(draw.randrange(len(lines)), lines.pop(place))
    elif numbers := list(_NUMBER.finditer(data)):
        match = draw.choice(numbers)
        return data[: match.start()] + draw.choice(_NUMBERS) + data[match.end() :]
    return b"\n".join(lines)


def _corpus(number: int, recognise) -> Path:  # type: ignore[no-untyped-def]
    """Return a folder with the samples that an importer recognises."""
    folder = FOUND / f"corpus-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    for path in SAMPLES.rglob("*"):
        if path.is_file() and path.stat().st_size <= MAX_BYTES:
            data = path.read_bytes()
            if recognise(data.decode("utf-8", "replace")):
                (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    return folder


if __name__ == "__main__":
    sys.exit(main())
