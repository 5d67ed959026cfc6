"""No study, and no message about a command line, repeats a password; and none has the digits of a huge number."""

import contextlib
from pathlib import Path

import pytest

from assay.cli.main import main

PASSWORD = "Pw0rd-of-nobody"
LINES = {
    "launcher": ("ior", f"mpirun -genv AWS_SECRET_ACCESS_KEY {PASSWORD} -env B_KEY '{PASSWORD} x' -np 2 ior -o /m/x"),
    "ior": ("ior", f"ior -o s3://u:{PASSWORD}@h/x"),
    "mdtest": ("mdtest", f"mdtest -n 10 -d http://u:{PASSWORD}@h/x"),
    "iozone": ("iozone", f"iozone -a -f http://u:{PASSWORD}@h/x"),
    "warp": ("warp", f"warp put --host=http://u:{PASSWORD}@h:9000"),
    "elbencho": ("elbencho", f"elbencho --s3endpoints http://u:{PASSWORD}@h:9000 -w -b 1m -s 1m bucket"),
    "fio": ("fio", f"fio --name=x --rw=read --size=1m --filename=http://u:{PASSWORD}@h/x"),
}
HUGE = {
    "size": ("ior", f"ior -b {'9' * 5000}"),
    "count": ("ior", f"ior -s {'9' * 5000}"),
    "number": ("mdtest", f"mdtest -n {'9' * 5000} -d /m"),
    "option": ("elbencho", f"elbencho --{'x' * 5000}"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_password_is_neither_in_a_study_nor_in_a_message(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    tool, line = LINES[name]

    code = main(["study", "from", tool, line])

    printed = "".join(capfd.readouterr())
    assert PASSWORD not in printed
    assert ("study: from-" in printed) == (code == 0)


def test_a_message_about_a_file_of_vdbench_has_no_password(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "work.parm"
    file.write_text(f"host=h1,user=root,password={PASSWORD}\n")

    assert main(["study", "from", "vdbench", str(file)]) == 2

    assert PASSWORD not in capfd.readouterr().err


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_number_or_word_is_one_short_error(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    with contextlib.suppress(SystemExit):
        assert main(["study", "from", *HUGE[name]]) == 2

    error, *_ = capfd.readouterr().err.splitlines()
    assert error.startswith("error: ")
    assert len(error) < 400
