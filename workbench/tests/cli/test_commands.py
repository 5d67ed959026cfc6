"""Each command once, from a user's words to its exit code; some of them as a process of its own."""

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from in_process import run_here
from paths import GOLDEN
from run_tools import ASSAY, needs_engine
from stored_runs import DAY, STARTED, noisy, store_run

from assay.cli.main import app

NULL = """
study: tiny
question: Does it start?
targets: {n: {kind: "null"}}
workloads: {w: {operations: [write], file_size: 1MiB, record_size: 64KiB}}
repeats: 1
ceilings: none
"""
CSV = "dimension,item,unit,price\ninstance,small,hour,0.10\n"
IMPORT = "--book ours --provider acme --region bern --date 2026-11-01 --currency CHF --hours 730"

CASES = {
    "measure": ("nothing", 2, ""),
    "fit": ("", 0, "etcd"),
    "find": ("nothing --latency p99<2ms", 2, ""),
    "serve": ("nothing", 2, ""),
    "import": (str(GOLDEN / "imports" / "fio" / "3.33-read.json"), 0, "next: assay show"),
    "audit": (str(GOLDEN / "imports" / "fio" / "3.33-read.json"), 0, "0 errors, 0 warnings"),
    "record": ("-o no/x.trace.gz -- true", 2, ""),
    "trace show": (str(GOLDEN / "traces" / "small.trace.gz"), 0, "command      tar -cf x.tar src"),
    "trace import": ("study.yaml", 2, ""),
    "init": ("new.yaml", 0, "wrote new.yaml; next: assay plan new.yaml"),
    "check": ("study.yaml", 0, "ok: 1 case x 1 repeat"),
    "plan": ("study.yaml", 0, "tiny: Does it start?"),
    "run": ("study.yaml", 0, "c0001"),
    "attach": ("run-0", 2, ""),
    "list": ("", 0, "run-3"),
    "show": ("run-3", 0, "Is it as fast as it was?"),
    "report": ("run-3", 0, "report.html"),
    "paper build": ("run-3 -o paper.md", 0, "paper.md"),
    "paper new": ("run-3", 0, "title: "),
    "paper check": ("study.yaml", 2, ""),
    "export": ("run-3 -f csv -o -", 0, "case,target,workload,operation,verdict"),
    "compare": ("run-0 run-1", 0, "run-0"),
    "ab": ("none none", 2, ""),
    "history": ("nightly", 0, "study nightly: 4 runs"),
    "predict": ("run-3 --hosts 8", 0, "no total can be predicted: 1 number of hosts measured"),
    "env": ("", 0, "versions"),
    "ceilings": ("study.yaml", 3, ""),
    "preflight": ("study.yaml", 2, ""),
    "study from elbencho": ("'elbencho -w -s 1m /x/f'", 0, "# From: elbencho -w -s 1m /x/f"),
    "study from warp": ("'warp get --host=h'", 0, "# From: warp get --host=h"),
    "study from ior": ("'ior -w -t 1m -b 1m'", 0, "# From: ior -w -t 1m -b 1m"),
    "study from io500": ("study.yaml", 2, ""),
    "study from mdtest": ("'mdtest -d /x'", 2, ""),
    "study from vdbench": ("study.yaml", 2, ""),
    "study from fio": ("'fio --name=a --size=1m'", 0, "# From: fio --name=a --size=1m"),
    "study from trace": (str(GOLDEN / "traces" / "small.trace.gz"), 0, "# From: small.trace.gz, recorded of: tar"),
    "study from iozone": ("'iozone -i 0'", 0, "# From: iozone -i 0"),
    "testbed up": ("none", 2, ""),
    "testbed status": ("", 0, ""),
    "testbed shell": ("none", 2, ""),
    "testbed exec": ("none true", 2, ""),
    "testbed down": ("none", 2, ""),
    "aoe discover": ("-i none", 2, ""),
    "aoe info": ("e1.0 -i none", 2, ""),
    "aoe attach": ("nothing", 2, ""),
    "aoe pairs": ("e1.0 e2.0 -i none", 2, ""),
    "aoe raid": ("/mnt/none e1.0 --level raid5", 2, ""),
    "aoe attached": ("", 0, ""),
    "aoe detach": ("", 2, ""),
    "catalog list": ("", 0, "gp3"),
    "catalog show": ("gp3", 0, "gp3: volume type"),
    "advise": (str(GOLDEN / "needs" / "07-long-term.yaml"), 0, "reserved-3y"),
    "prices list": ("", 0, "aws-us-east-1"),
    "prices show": ("own-hardware-2007", 0, "own-hardware-2007: own on-premises"),
    "prices check": ("aws-us-east-1", 0, "ok: aws-us-east-1"),
    "prices import": (f"table.csv {IMPORT}", 0, "ours.yaml: 1 rows in CHF of 2026-11-01"),
    "prices refresh": ("none", 2, ""),
    "price": ("s3", 0, "design  s3"),
    "deploy template": ("nfs-aws-2016", 0, "AWSTemplateFormatVersion"),
    "deploy up": ("--name nfs1", 2, ""),
    "deploy status": ("no_name", 2, ""),
    "deploy down": ("no_name", 2, ""),
    "deploy list": ("--region all --region eu-west-1", 3, ""),
    "deploy audit": ("--region all --region eu-west-1", 3, ""),
    "deploy hosts": ("nothing", 2, ""),
    "completion": ("bash", 0, "complete -o default -F _assay_completion assay"),
    "doctor": ("", 0, "assay-engine"),
}
"""Command -> what follows it, its exit code, and what a line of its standard output has; empty: there is no line."""
PROCESSES = {"run", "list", "ab", "ceilings", "export", "catalog show"}
"""Commands that are started as processes: with and without an engine, with each exit code and with a pipe behind it."""


def leaves(command: Any, words: tuple[str, ...] = ()) -> Iterator[str]:
    """All commands of the program, those below others in several words."""
    if not hasattr(command, "list_commands"):
        yield " ".join(words)
        return
    for name in command.list_commands(None):
        yield from leaves(command.get_command(None, name), (*words, name))


def test_every_command_of_the_program_is_tried() -> None:
    assert sorted(leaves(typer.main.get_command(app))) == sorted(CASES)


@needs_engine
@pytest.mark.parametrize("command", CASES)
def test_it_starts_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    if command.startswith("testbed ") and os.geteuid() != 0:
        pytest.skip("only root may look at boxes")
    monkeypatch.setenv("ASSAY_BOXES", str(tmp_path / "boxes"))
    (tmp_path / "study.yaml").write_text(NULL)
    (tmp_path / "table.csv").write_text(CSV)
    for day in range(4):
        speeds = {("disk", "write"): noisy(300e6, 4, seed=day)}
        store_run(tmp_path / "assay-runs", f"run-{day}", speeds, created_at=STARTED + day * DAY)
    words, code, line = CASES[command]
    given = [*command.split(), *shlex.split(words)]
    if command in PROCESSES:
        done = subprocess.run([ASSAY, *given], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    else:
        done = run_here(tmp_path, *given)
    assert done.returncode == code, done.stderr
    assert any(line in each for each in done.stdout.splitlines()) if line else done.stdout == ""
    assert "Traceback" not in done.stderr
    assert line or done.stderr.startswith("error: " if code else ("no box is up", "no disk is attached"))
