"""`assay check` refuses what `assay run` refuses before it measures: studies with one fault each."""

import re
from pathlib import Path

import pytest
from impossible import FAULTS, Ground, faulty, sound, text
from run_tools import needs_engine, run_here

pytestmark = needs_engine
_WHERE = re.compile(r"^(?:\S+:\d+: )?error: (?:\S+:\d+: )?(?:targets\.(\w+)(?:\.path)?: |target (\w+): )?")


def refusal(folder: Path, *words: str) -> tuple[list[tuple[str, str]], str]:
    """What a command refuses: target and message, and hint, of each line; and all that it says."""
    done = run_here(folder, *words)
    said = done.stdout + done.stderr
    assert done.returncode in (2, 3), (words, said)
    assert "Traceback" not in said
    lines = [line for line in done.stderr.splitlines() if re.match(r"(\S+: )?error: |\s*hint: ", line)]
    found = [
        _WHERE.sub(lambda start: f"{start[1] or start[2] or ''}: ", line).strip() if "error: " in line else line.strip()
        for line in lines
    ]
    return [(message, hint) for message, hint in zip(found[::2], found[1::2], strict=True)], said


SAID = {
    "direct sizes": "file_size 10kB is not a multiple of 512B, which O_DIRECT needs",
    "sets on a device": "has no sets of files",
    "sectors of 4 KiB": "record_size 512B is not a multiple of 4KiB, which O_DIRECT needs",
    "sectors of 4 KiB below ext4": "record_size 512B is not a multiple of 4KiB, which O_DIRECT needs",
    "a device by a link to nothing": "No such file or directory",
    "a mounted device": "mounted at",
    "a device that is too small": "67.1 MB of test data do not fit",
    "a run that is at work": "is in use by run",
    "a server that is not installed": "needs assay-no-such-program, which is not installed",
    "a box whose server is not installed": "needs assay-no-such-program, which is not installed",
    "a box without a program": "needs losetup",
    "no interface": "no such network interface",
    "no service of tables": "Connection refused",
    "no inventory": "nosuch.txt: no such file or directory",
    "memory without a cache to empty": "cannot do cache: evict",
}
"""Words of refusals that could also be others: each study has the fault that it is there for."""


@pytest.mark.parametrize("name", FAULTS)
def test_check_and_run_refuse_alike(tmp_path: Path, name: str) -> None:
    with faulty(tmp_path, FAULTS[name]) as study:
        (tmp_path / "study.yaml").write_text(study)
        before = sorted(tmp_path.rglob("*"))
        checked, said = refusal(tmp_path, "check", "study.yaml")
        assert SAID.get(name, "") in checked[0][0], said
        assert sorted(tmp_path.rglob("*")) == before, "checking makes nothing"
        ran, told = refusal(tmp_path, "run", "study.yaml", "--destroy")
        assert sorted(ran) == sorted(checked), told
        assert not list(tmp_path.glob("assay-runs/2*"))


def test_there_are_sixty_and_the_study_without_a_fault_can_run(tmp_path: Path) -> None:
    assert len(FAULTS) >= 60
    with pytest.MonkeyPatch.context() as patch:
        (tmp_path / "study.yaml").write_text(text(sound(Ground(tmp_path, patch, None))))  # type: ignore[arg-type]
        assert run_here(tmp_path, "check", "study.yaml").returncode == 0
        assert run_here(tmp_path, "run", "study.yaml", "--quiet").returncode == 0
