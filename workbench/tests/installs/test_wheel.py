"""The wheel, installed as users do, on the oldest and the newest Python that it claims; dialogues with it there."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_root import NEWEST, OLDEST, BareRoot, bare_root
from dialogues import COLUMNS, hold
from paths import GOLDEN, REPOSITORY
from soak import times

PYTHONS = {OLDEST: "3.11", NEWEST: "3.14"}
LONG = ("11-measure",)
"""Measures for half a minute, which takes a quarter of all that tests of installs may; `make soak` holds it, too."""
DIALOGUES = [file for file in sorted((GOLDEN / "dialogues").glob("*.txt")) if file.stem not in times(LONG, ())]
ENVIRONMENT = "/opt/assay-environment"


@pytest.fixture(scope="module", params=[OLDEST, NEWEST])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareRoot]:
    """A bare root in whose empty virtual environment the wheel was installed by pip."""
    wheels = sorted((REPOSITORY / "target" / "dist").glob(f"assay-*_{os.uname().machine}.whl"))
    if not wheels:
        pytest.skip("there is no wheel: run `make wheel`")
    layers = tmp_path_factory.mktemp(request.param)
    root = bare_root(request.param, layers)
    (root.upper / "root").mkdir(exist_ok=True)
    shutil.copy(wheels[-1], root.upper / "root")
    root.must("python3", "-m", "venv", ENVIRONMENT)
    root.must(f"{ENVIRONMENT}/bin/pip", "install", "--quiet", "--only-binary", ":all:", f"/root/{wheels[-1].name}")
    yield root
    shutil.rmtree(layers, ignore_errors=True)


def assay(root: BareRoot, command: str, folder: str) -> tuple[int, str]:
    """Exit code and output of what a user types, in a terminal of 80 columns."""
    path = f"{ENVIRONMENT}/bin:/usr/local/bin:/usr/bin:/bin"
    done = root.run(["sh", "-c", command], folder, {"NO_COLOR": "1", "PATH": path}, COLUMNS)
    return done.returncode, done.stdout


def test_the_wheel_brings_the_engine_and_needs_no_compiler(installed: BareRoot) -> None:
    suite = installed.base.name.removeprefix("root-")
    version = installed.must("python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    assert version.strip() == PYTHONS[suite]
    for program in ("cc", "gcc", "cargo", "rustc"):
        assert installed.run(["sh", "-c", f"command -v {program}"]).returncode != 0
    code, said = assay(installed, "assay doctor", "/root")
    assert code == 0, said
    where = installed.must(f"{ENVIRONMENT}/bin/python", "-c", "import assay.launch.binary as b; print(b.find_engine())")
    assert where.startswith(f"{ENVIRONMENT}/lib/")
    assert assay(installed, "assay-engine --version", "/root") == (0, "assay-engine 0.1.0\n")


def test_a_study_is_planned_run_and_reported(installed: BareRoot) -> None:
    for command in ("mkdir -p /root/whole", "assay init /root/whole/study.yaml --from engine"):
        assert assay(installed, command, "/root")[0] == 0
    run = "assay run study.yaml --only flat-out --target instant --repeats 3 --set runtime=0.2s --set lanes=1"
    for command in ("assay plan study.yaml", run, "assay report last", "assay export last --format csv"):
        code, said = assay(installed, command, "/root/whole")
        assert code == 0, f"{command}: exit code {code}\n{said}"


@pytest.mark.parametrize("installed", [OLDEST], indirect=True)
@pytest.mark.parametrize("file", DIALOGUES, ids=lambda file: file.stem)
def test_a_dialogue(installed: BareRoot, file: Path) -> None:
    folder = f"/home/{file.stem}"
    installed.must("mkdir", "-p", folder)
    text = file.read_text()
    new, wrong = hold(text, lambda command: assay(installed, command, folder))
    if os.environ.get("ASSAY_UPDATE_DIALOGUES"):
        file.write_text(new)
        wrong = [line for line in wrong if "columns:" in line]
    assert not wrong, "\n\n".join(wrong)
