"""What is left of a server whose run was killed is ended and removed, and nothing else is."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.journal.entry import SERVER, Entry
from assay.journal.processes import boot_id, start_time
from assay.model.base import AssayError
from assay.servers.kinds import ServerKind
from assay.site.started_server import check_installed, remove_leftover_server

NAME = "assay-server-0123456789abcdef"


def entry(folder: Path, **details: Any) -> Entry:
    """As a run has written it down that has made the folder."""
    with contextlib.suppress(OSError):
        details = {"made": [folder.stat().st_dev, folder.stat().st_ino]} | details
    return Entry(1, SERVER, str(folder), details, 0.0, None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / NAME / "data").mkdir(parents=True)
    return tmp_path / NAME


@pytest.fixture
def process() -> Any:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_server_that_still_runs_is_ended(folder: Path, process: Any) -> None:
    left = entry(folder, pid=process.pid, start=start_time(process.pid), boot=boot_id())
    assert remove_leftover_server(left) == []
    assert process.wait() == -9 and not folder.exists()
    assert remove_leftover_server(left) == [], "it is gone already"


@pytest.mark.parametrize("changes", [{"start": 1}, {"boot": "another"}, {"pid": "7"}, {"start": None}])
def test_a_process_that_has_the_id_now_is_left_alone(folder: Path, process: Any, changes: dict[str, Any]) -> None:
    known = {"pid": process.pid, "start": start_time(process.pid), "boot": boot_id()}
    assert remove_leftover_server(entry(folder, **{**known, **changes})) == []
    assert process.poll() is None and not folder.exists()


def test_what_no_server_has_made_stays(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert "left alone" in remove_leftover_server(entry(tmp_path / "mine"))[0]
    link = tmp_path / "assay-server-fedcba9876543210"
    link.symlink_to(tmp_path / "mine")
    assert "left alone" in remove_leftover_server(entry(link))[0]
    assert (tmp_path / "mine").is_dir() and folder.is_dir()


def test_a_folder_that_was_put_in_place_of_the_servers_data_stays(tmp_path: Path, folder: Path) -> None:
    data = (folder / "data").stat()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "precious.txt").write_text("theirs")
    (folder / "data").rename(tmp_path / "aside")
    (tmp_path / "theirs").rename(folder / "data")
    (line,) = remove_leftover_server(entry(folder, data=[data.st_dev, data.st_ino]))
    assert "is not the folder that was made: left alone" in line
    assert (folder / "data" / "precious.txt").read_text() == "theirs"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_folder_of_another_user_stays(folder: Path) -> None:
    os.chown(folder, 65534, 65534)
    assert "left alone" in remove_leftover_server(entry(folder))[0]
    assert folder.is_dir()


def test_what_a_server_lacks_is_named_with_the_way_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_SERVERS", str(tmp_path))
    lines = ["kind: own", "description: x", "python: [assay_no_such, assay_nor_this]", "start: [[x]]", "ready: ['1']"]
    (tmp_path / "own.yaml").write_text("\n".join([*lines, "pidfile: /p"]))
    with pytest.raises(AssayError, match="own needs the Python package assay_no_such, the Python package") as caught:
        check_installed("own")
    how = "pip install assay_no_such assay_nor_this"
    assert caught.value.hint == f"{how}; or leave out the targets with `server: own`"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"only_in_box": "it is loud"}, "it is loud"),
        *(
            (changes, "outside, only servers of one command")
            for changes in (
                *(
                    {"port": None},
                    {"foreground": False},
                    {"ready": ["9000"]},
                    {"before": [["x"]]},
                    {"folders": ["/run/x"]},
                ),
                *(
                    {"configuration": "x"},
                    {"private_folders": ["/var/x"]},
                    {"after_ready": [["x"]]},
                    {"start": [["x"], ["y"]]},
                ),
            )
        ),
    ],
)
def test_what_is_more_than_one_command_on_loopback_runs_in_a_box_only(changes: dict[str, Any], why: str) -> None:
    plain = {"kind": "k", "description": "d", "install_hint": "o", "pidfile": "/p", "start": [["x", "$port"]]}
    kind = ServerKind.model_validate(
        {**plain, "foreground": True, "port": 9000, "ready": ["http://$address:$port/"], **changes}
    )
    assert kind.box_only_reason.startswith(why) and bool(kind.box_only_reason) == bool(why)
