"""Fuzz the readers of other tools' outputs, guided by coverage, with the samples of the tests to start from.

    .venv/bin/python -m pip install atheris
    .venv/bin/python tools/fuzz_importers.py [--seconds 600] [--samples fio/*terse*] [WORD ..]

Each importer whose name or forms contain a WORD gets a process of its own, one after the other; without a WORD all do.
Its text is read and audited, and of some a run is made. A finding is any exception but a refusal in a line, and an
input that takes seconds: the shortest of each place is kept in `target/fuzz/NUMBER/found/`, and fuzzing goes on. An
input that takes longer than 20 seconds or more than 500 MB ends the process. The exit code is 1 if there was any.
"""

import argparse
import hashlib
import random
import re
import subprocess
import sys
import time
import traceback
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "workbench" / "tests" / "golden" / "imports"
SUPPORT = ROOT / "workbench" / "tests" / "support"
FOUND = ROOT / "target" / "fuzz"
MAX_BYTES = 64 << 10
"""Longest input."""
MAX_MESSAGE = 1000
"""Longest refusal in characters."""
SLOW_SECONDS = 3
"""CPU time from which an input is kept as slow; instrumented code takes about three times as long."""
RUN_SHARE = 20
"""Of one in so many inputs a run is made, which takes as long as ten of them."""
_NUMBER = re.compile(rb"[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?")
_NUMBERS = (
    b"0",
    b"-1",
    b"1",
    b"0.0",
    b"1e308",
    b"1e999",
    b"1e-999",
    b"1e999999999999999999",
    b"nan",
    b"inf",
    b"-0",
    b"00",
    b"4294967296",
    b"18446744073709551616",
    b"9" * 30,
    b"9" * 400,
    b"9" * 5000,
    "\u0663".encode(),
    "\u00b2".encode(),
    b"1_000",
    b"",
)


def main() -> int:
    """Fuzz each importer that was asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600, help="how long each importer is fuzzed")
    parser.add_argument("--samples", default="*/*", help="which samples to start from")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*", metavar="WORD")
    given = parser.parse_args()
    if given.one is not None:
        return fuzz(given.one, given.seconds, given.samples)
    from assay.rooms.importers.work.tools import IMPORTERS

    failed = []
    for number, importer in enumerate(IMPORTERS):
        if given.words and not any(word in f"{importer.name} {importer.forms}" for word in given.words):
            continue
        print(f"{importer.forms}: {given.seconds} s", flush=True)
        for path in (FOUND / str(number) / "found").glob("*"):
            path.unlink()
        limits = ["--seconds", str(given.seconds), "--samples", given.samples]
        done = subprocess.run([sys.executable, __file__, "--one", str(number), *limits], check=False)
        if done.returncode or any((FOUND / str(number) / "found").iterdir()):
            failed.append(f"{importer.forms}; see {FOUND / str(number) / 'found'}")
    for one in failed:
        print(f"failed: {one}")
    return 1 if failed else 0


def fuzz(number: int, seconds: int, samples: str) -> int:
    """Fuzz one importer in this process, which ends with it."""
    import atheris

    with atheris.instrument_imports(include=["assay.rooms.importers"]):
        from assay.rooms.importers.audit import rules, shown  # noqa: F401 - what is instrumented
        from assay.rooms.importers.work import runs  # noqa: F401 - likewise
        from assay.rooms.importers.work.tools import IMPORTERS

    sys.path.append(str(SUPPORT))
    folder = FOUND / str(number)
    (folder / "found").mkdir(parents=True, exist_ok=True)
    corpus = _corpus(folder / "corpus", IMPORTERS[number].recognise, samples)
    pieces = [path.read_bytes() for path in corpus.iterdir()]

    def changed(data: bytes, size: int, seed: int) -> bytes:
        draw = random.Random(seed)
        return _changed(data, pieces, draw)[:size] if draw.random() < 0.6 else bytes(atheris.Mutate(data, size))

    # With counters, inputs that have the same more often would fill the corpus.
    limits = [f"-max_total_time={seconds}", f"-max_len={MAX_BYTES}", "-len_control=0", "-use_counters=0", "-timeout=20"]
    shown_by = ["-rss_limit_mb=500", f"-artifact_prefix={folder / 'found'}/", "-print_final_stats=1", "-verbosity=1"]
    check = _Check(IMPORTERS[number], folder / "found")
    atheris.Setup([sys.argv[0], str(corpus), *limits, *shown_by], check.one, custom_mutator=changed)
    atheris.Fuzz()
    return 0


class _Check:
    """Reads inputs with one importer, and keeps those that it should have refused."""

    def __init__(self, importer: Any, found: Path) -> None:
        from assay.model.result.imported import ImportedFile
        from assay.rooms.importers.audit.facts import read_facts

        self._importer, self._found, self._facts = importer, found, read_facts("")
        self._known = ImportedFile(
            tool=importer.name, version="", form="", file="f", line=1, sha256="0" * 64, size_bytes=1
        )

    def one(self, data: bytes) -> None:
        """Read an input; keep it if that fails or takes long."""
        start = time.process_time()
        try:
            self._read(data)
        except Exception as error:
            places = [one for one in traceback.extract_tb(error.__traceback__) if "/assay/" in one.filename]
            place = f"{Path(places[-1].filename).stem}-{places[-1].lineno}" if places else "check"
            self._keep(f"{type(error).__name__}-{place}", data, traceback.format_exc())
        if (spent := time.process_time() - start) > SLOW_SECONDS:
            self._keep(f"slow-{int(spent)}", data, f"{spent:.1f} s")

    def _keep(self, name: str, data: bytes, words: str) -> None:
        path = self._found / name
        if not path.exists() or len(data) < path.stat().st_size:
            path.write_bytes(data)
            path.with_name(f"{name}.txt").write_text(words)

    def _read(self, data: bytes) -> None:
        from imported_samples import check_units

        from assay.rooms.importers.audit import shown
        from assay.rooms.importers.audit.rules import audit
        from assay.rooms.importers.work.results import (
            MAX_RESULTS,
            ImportOptions,
            OutputError,
            RolesNeeded,
            results_left,
        )

        text = data.decode("utf-8", "replace")
        if not self._importer.recognise(text):
            return
        results_left.set(MAX_RESULTS)
        try:
            outputs = self._importer.read(text, self._known, ImportOptions("random"))
        except OutputError as error:
            assert 1 <= error.line <= text.count("\n") + 1, f"line {error.line}"
            assert error.hint and 0 < len(error.message) <= MAX_MESSAGE, error.message
            return
        except RolesNeeded:
            return
        finally:
            results_left.set(None)
        findings = audit(outputs, self._facts)
        list(shown.text_lines(findings, outputs))
        check_units([result for output in outputs for result in output.results])
        if zlib.crc32(data) % RUN_SHARE == 0:
            shown.as_sarif(findings)
            self._make_run(outputs)

    def _make_run(self, outputs: Sequence[Any]) -> None:
        from assay.journal.trees import scratch_folder
        from assay.model.base import AssayError
        from assay.rooms.importers.work.results import ImportedRun
        from assay.rooms.importers.work.runs import make_run

        with scratch_folder("fuzz-runs-") as root:
            try:
                folder = make_run(outputs, root, "fuzz", "assay import f", "run")
            except AssayError:
                return
            ImportedRun.model_validate_json((folder / "imported.json").read_text())


def _changed(data: bytes, samples: Sequence[bytes], draw: random.Random) -> bytes:
    """Return a text with a line or field left out, doubled, moved, repeated or of a sample, or another number."""
    if draw.random() < 0.4 and (numbers := list(_NUMBER.finditer(data))):
        match = draw.choice(numbers)
        return data[: match.start()] + draw.choice(_NUMBERS) + data[match.end() :]
    mark = draw.choice((b"\n", b"\n", b"\n", b",", b";", b" ", b'"', b">"))
    parts = data.split(mark)
    place, other = draw.randrange(len(parts)), draw.randrange(len(parts))
    what = draw.randrange(80)
    if what < 12:
        del parts[place : place + draw.choice((1, 1, 1, 5))]
    elif what < 24:
        parts.insert(other, parts[place])
    elif what < 36:
        parts.insert(other, parts.pop(place))
    elif what < 78:
        theirs = draw.choice(samples).split(mark) if samples else parts
        at = draw.randrange(len(theirs))
        parts[place : place + draw.choice((0, 1, 1, 3))] = theirs[at : at + draw.choice((1, 1, 3, 10))]
    elif what == 78:
        # What takes time that grows with the square of a length shows it only so.
        parts[place:place] = [parts[place]] * min(draw.choice((20, 200, 20_000)), MAX_BYTES // (len(parts[place]) + 1))
    else:
        at, length = draw.randrange(len(data) + 1), draw.choice((1, 1, 2, 5, 40))
        return data[:at] + data[at : at + length] * draw.choice((10, 1000, 20_000 // length)) + data[at:]
    return mark.join(parts)


def _corpus(folder: Path, recognise: Callable[[str], bool], samples: str) -> Path:
    """Return a folder with the samples that an importer recognises, and what earlier fuzzing added to them."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in SAMPLES.glob(samples):
        if path.is_file() and path.stat().st_size <= MAX_BYTES:
            data = path.read_bytes()
            if recognise(data.decode("utf-8", "replace")):
                (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    return folder


if __name__ == "__main__":
    sys.exit(main())
