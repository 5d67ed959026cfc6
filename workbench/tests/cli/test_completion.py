"""What a shell is told that a word may become: commands, options, runs and studies; by the scripts that are printed."""

import shutil
import subprocess
from pathlib import Path

import pytest
from run_tools import ASSAY, assay
from stored_runs import noisy, store_run

EVIL = "$(touch evil)"
PROBE = """
source <("$1" completion bash)
COMP_WORDS=(assay {words}); COMP_CWORD={place}
_assay_completion "$1"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, study in (("run-a", "nightly"), ("run-b", "weekly"), ("run-c", EVIL)):
        store_run(tmp_path / "assay-runs", name, {("disk", "write"): noisy(3e8)}, study=study)
    return tmp_path


def completed(folder: Path, words: str, place: int) -> list[str]:
    """What bash offers, by the script itself."""
    program = ["bash", "-c", PROBE.format(words=words, place=place), "bash", ASSAY]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash_completes_commands_options_runs_and_studies(folder: Path) -> None:
    assert completed(folder, "sh", 1) == ["show"]
    assert completed(folder, "run --rep", 2) == ["--repeats"]
    assert completed(folder, "show run-", 2) == ["run-c", "run-b", "run-a"]
    assert completed(folder, "report n", 2) == ["nightly"]
    assert "last" in completed(folder, "compare run-a ''", 3)
    assert not (folder / "evil").exists()


def test_a_name_that_a_shell_could_take_for_more_is_not_offered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.terminal.settings import matching_runs

    monkeypatch.chdir(folder)
    assert matching_runs("") == ["last", "run-c", "run-b", "run-a", "weekly", "nightly"]
    assert matching_runs("$") == []


def test_a_wrong_configuration_only_means_that_nothing_is_offered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.terminal.settings import matching_runs

    (folder / "config/assay").mkdir(parents=True)
    (folder / "config/assay/config.yaml").write_text("wrong: 1\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.chdir(folder)
    assert matching_runs("") == []


@pytest.mark.parametrize(
    ("shell", "words"),
    [("bash", "complete -o default"), ("zsh", "#compdef assay"), ("fish", "complete --command assay")],
)
def test_each_shell_has_its_script_and_nothing_is_written(tmp_path: Path, shell: str, words: str) -> None:
    said = assay(tmp_path, "completion", shell)
    assert words in said.stdout and "_ASSAY_COMPLETE" in said.stdout
    assert list(tmp_path.iterdir()) == []
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=said.stdout, text=True, check=True)


def test_no_other_shell_is_known(tmp_path: Path) -> None:
    assert "'bash', 'zsh', 'fish'" in assay(tmp_path, "completion", "tcsh", expect=2).stderr
