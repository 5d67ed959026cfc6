"""The steps of `make test` and of the rest of `make test-all`, in the order in which `tools/run_tests.py` runs them.

A part is a list of phases, one after the other. A phase is a list of lanes, which run beside each other. A lane is a
list of steps, one after the other. The workbench's tests belong to a part by their folder and nothing else:
TEST_FOLDERS, REST_FOLDERS.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON = sys.executable
CACHES = ROOT / "target" / "test-caches"
CORES = len(os.sched_getaffinity(0))
TEST_FOLDERS = {"unit": "unit tests", "cli": "command tests", "short_runs": "short runs"}
"""Folder of workbench/tests -> its step, of `make test`."""
REST_FOLDERS = {
    "runs": "whole runs",
    "simulations": "simulations",
    "browser": "browser tests",
    "boxes": "box tests",
    "installs": "install tests",
    "quiet": "quiet tests",
}
"""The same, of what only `make test-all` runs."""
OWN_FOLDERS = {"guests": "make test-vm"}
"""Folder -> the command that runs nothing else."""


@dataclass(frozen=True)
class Step:
    """One check or suite.

    Attributes:
        name: For people; `--only` looks for words in it.
        words: The command.
        folder: Where it runs, below the project.
        suite: Whether it counts its own tests.
        again: Whether a few tests that fail may be run once more.
        budget: Which line of tools/test_budgets.json its CPU time counts for; empty for what builds or downloads, whose
            time depends on what is there already.
    """

    name: str
    words: list[str]
    folder: str = "."
    suite: bool = False
    again: bool = False
    budget: str = "checks"


def tests(folder: str, *words: str, again: bool = False) -> Step:
    """The tests of a folder of the workbench; each has its own memory of what failed."""
    name = {**TEST_FOLDERS, **REST_FOLDERS}[folder]
    cache = f"cache_dir={CACHES / folder}"
    pytest = [PYTHON, "-m", "pytest", "-q", "--color=no", "-o", cache, f"tests/{folder}", *words]
    return Step(name, pytest, "workbench", suite=True, again=again, budget=name)


def by_file(processes: int) -> list[str]:
    """Options of pytest: so many processes, each of which takes whole files: a run made once serves its file."""
    return ["-n", str(processes), "--dist", "loadfile"]


ALL_PYTHON = [".", "../tools", "../bench"]
DENIED = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"
LINTED = ["env", "RUSTC_WORKSPACE_WRAPPER=clippy-driver", f"CLIPPY_ARGS={DENIED}"]
"""As `cargo clippy` runs its compiler; that builds, too, so that all is compiled once and not twice."""
CARGO_TEST = [*LINTED, "cargo", "test", "--no-fail-fast"]
CARGO_RUN = [*CARGO_TEST, "--", "--nocapture", "--test-threads=2"]
TEST: list[list[list[Step]]] = [
    [
        [
            Step("rust format", ["cargo", "fmt", "--check"]),
            Step("rust dependencies", [PYTHON, "tools/check_crates.py"]),
            Step("crate policy", [str(BIN / "cargo-deny"), "--locked", "check", "bans", "sources"]),
            Step("licences", [PYTHON, "tools/licences.py", "--check"]),
            Step("rust lints", [*CARGO_TEST, "--no-run", "--quiet"], budget=""),
            Step(
                "engine tests",
                [*CARGO_TEST, "--", "--nocapture", "--test-threads=2"],
                suite=True,
                budget="engine tests",
            ),
            Step("instructions", [PYTHON, "tools/check_instructions.py"]),
            Step("size budget", [PYTHON, "tools/check_size.py"]),
            Step("reads of files", [PYTHON, "tools/check_reads.py"]),
            Step("names", [PYTHON, "tools/check_names.py"]),
            Step("names in docstrings", [PYTHON, "tools/check_docstrings.py"]),
            Step("decisions by words", [PYTHON, "tools/check_texts.py"]),
            Step("removals of trees", [PYTHON, "tools/check_removals.py"]),
            Step("kinds of target", [PYTHON, "tools/check_kinds.py"]),
            Step("files of runs", [PYTHON, "tools/check_doors.py"]),
            Step("prices", [PYTHON, "tools/check_prices.py"]),
            Step("subjects of folders", [PYTHON, "tools/check_folders.py"]),
            Step("operations named", [PYTHON, "tools/check_operations.py"]),
            Step("python lints", [str(BIN / "ruff"), "check", "--quiet", *ALL_PYTHON], "workbench"),
            Step("python format", [str(BIN / "ruff"), "format", "--check", "--quiet", *ALL_PYTHON], "workbench"),
            Step("python imports", [str(BIN / "lint-imports"), "--no-cache"], "workbench"),
            Step("python types", [str(BIN / "mypy"), "--no-error-summary"], "workbench"),
            Step("generated files", [PYTHON, "tools/generate.py", "--check"]),
            Step("bench tests", [PYTHON, "-m", "pytest", "-q", "--color=no"], "bench", suite=True),
        ],
        [
            tests("unit", *by_file(CORES)),
            tests("cli", *by_file(CORES)),
            tests("short_runs", *by_file(CORES)),
        ],
    ],
]
"""What `make test` runs: it needs Python, Rust and make, and no server."""
REST: list[list[list[Step]]] = [
    [
        [
            # They wait for servers more than they compute; the longest are first, by their conftest.py.
            tests("boxes", *by_file(2 * CORES), "--no-loadscope-reorder", again=True),
        ],
        [
            Step("bare roots", [PYTHON, "tests/support/bare_root.py"], "workbench", budget=""),
            Step("wheel", [PYTHON, "tools/dist/build.py", "wheel"], budget=""),
            tests("installs"),
        ],
        [
            # One more than there are cores, since some wait for storage; a file makes the runs that its tests read.
            tests("runs", *by_file(CORES + 1)),
            tests("browser", *by_file(CORES)),
            tests("simulations", "-n", str(CORES), "--dist", "worksteal"),
        ],
    ],
    [[tests("quiet", again=True)]],
]
"""What `make test-all` runs besides: servers, schedulers, a browser, installs, and what measures this machine."""
PARTS = {"test": TEST, "rest": REST}


def steps(part: str) -> list[Step]:
    """All steps of a part in one list."""
    return [step for lanes in PARTS[part] for lane in lanes for step in lane]
