#!/usr/bin/env python3
"""What `make soak` does: what takes too long for `make test`. Ends with a count; exit code 1 if anything failed.

`--only WORD` runs the steps whose name has WORD, `--seconds N` gives each fuzz target another time than 10 minutes.

Fuzz targets are built with stable Rust: coverage comes from LLVM's pass sancov, and libFuzzer from the crate
libfuzzer-sys. What they find is in target/fuzz/found, and belongs into contract/golden/jobs-bad or a test; what they
have learned is kept in target/fuzz/corpus, and is where the next soak starts.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
FUZZ = ROOT / "target" / "fuzz"
LOGS = ROOT / "target" / "soak-logs"
TRIPLE = re.search(r"host: (\S+)", subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout)
HOST = TRIPLE[1] if TRIPLE else "x86_64-unknown-linux-gnu"
#: What cargo-fuzz asks of the compiler, too, where no sanitizer is wanted.
COVERAGE = (
    "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
    " -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
    " -Cllvm-args=-sanitizer-coverage-trace-compares"
)
#: Bytes of memory that nothing made of any input may exceed, in 10^6.
MAX_MB = 200
#: Longest input in bytes: longer ones say little more. One input may take 10 s, a thousand times what is usual.
LONGEST = {"job": 16_384, "control": 16_384, "nfs_reply": 4096, "smb_answer": 4096}


@dataclass(frozen=True)
class Step:
    """A program that must end with exit code 0.

    Attributes:
        name: For people; `--only` looks for words in it.
        folder: Where it runs, below the project.
        words: The command.
        environment: What is added to the environment.
    """

    name: str
    folder: str
    words: list[str]
    environment: dict[str, str] = field(default_factory=dict)


def fuzz(target: str, seconds: int) -> Step:
    """Runs a fuzz target for so long, from what it knows and the samples of the contract."""
    corpus, found = FUZZ / "corpus" / target, FUZZ / "found" / target
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    if target == "job":
        for sample in sorted((ROOT / "contract" / "golden").glob("jobs*/*.json")):
            (corpus / sample.name).write_text(compact(sample.read_text()))
    limits = [f"-max_total_time={seconds}", "-timeout=10", f"-rss_limit_mb={MAX_MB}", f"-max_len={LONGEST[target]}"]
    where = [f"-artifact_prefix={found}/", "-print_final_stats=1", str(corpus)]
    program = FUZZ / HOST / "fuzz" / target
    return Step(f"fuzz {target}", ".", [str(program), *limits, "-use_value_profile=1", *where])


def compact(text: str) -> str:
    """JSON without blanks, of which a fuzzer makes more; other text as it is."""
    try:
        return json.dumps(json.loads(text), separators=(",", ":"))
    except ValueError:
        return text


def steps(seconds: int) -> list[Step]:
    """Everything, in order. To add something, add a line."""
    build = "cargo build --quiet --locked --profile fuzz --package assay-fuzz --features libfuzzer --bins".split()
    soak = {"ASSAY_SOAK": "1"}
    return [
        Step("fuzz build", ".", [*build, "--target", HOST, "--target-dir", str(FUZZ)], {"RUSTFLAGS": COVERAGE}),
        *(fuzz(target, seconds) for target in LONGEST),
        Step("all tests", ".", [PYTHON, "tools/run_tests.py", "--only", "tests"], soak),
        Step("tracer", ".", [PYTHON, "bench/agreement/trace.py"]),
    ]


def run(step: Step) -> bool:
    """Whether the step ended well; what it printed is kept, and its end shown."""
    begin = time.monotonic()
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{step.name.replace(' ', '-')}.log"
    with log.open("w") as out:
        try:
            environment = {**os.environ, **step.environment}
            done = subprocess.run(
                step.words, cwd=ROOT / step.folder, env=environment, stdout=out, stderr=subprocess.STDOUT, check=False
            ).returncode
        except OSError as error:
            done = 127
            out.write(f"{step.words[0]}: {error}\n")
    print(f"{step.name:18} {'ok' if done == 0 else 'FAILED':6} {time.monotonic() - begin:7.1f} s", flush=True)
    lines = log.read_text(errors="replace").splitlines()
    told = [
        line
        for line in lines
        if re.match(r"stat::|\d+ passed|\d+ of \d+ runs|.* s of CPU|.*SKIPPED|.*failed at first", line)
    ]
    print("\n".join(f"   {line}" for line in (told if done == 0 else lines[-60:])), flush=True)
    return done == 0


def main() -> int:
    """Exit code 1 if a step failed or none ran."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--seconds", type=int, default=600)
    arguments = parser.parse_args()
    os.environ.setdefault("ASSAY_ENGINE", str(ROOT / "target" / "release" / "assay-engine"))
    results = [run(step) for step in steps(arguments.seconds) if arguments.only in step.name]
    print(f"{sum(results)} of {len(results)} steps passed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
