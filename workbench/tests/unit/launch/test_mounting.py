"""What a study has mounted covers nothing of a host's, and only what was mounted is unmounted. Needs root."""

import os
import random
import subprocess
from pathlib import Path

import pytest
from mounts import needs_mounts

from assay.journal.entry import MOUNT
from assay.journal.file import FileJournal
from assay.launch.mounter import Mounter, check_mounts
from assay.launch.mounts import read_mounts
from assay.launch.shell import LocalShell
from assay.model.base import AssayError
from assay.model.site.host import THIS_HOST
from assay.model.study.mounts import StudyMount

pytestmark = needs_mounts


def mount(at: Path, source: str = "ours", type_: str = "tmpfs") -> StudyMount:
    return StudyMount.model_construct(at=str(at), source=source, type=type_, options=None, credentials=None)


def mounting_of(place: Path, *mounts: StudyMount, say: list[str] | None = None) -> Mounter:
    """As a run has it, which goes on if it has been there before."""
    journal = FileJournal(place / "journal")
    known = {entry.name: entry.details for entry in journal.entries() if entry.kind == MOUNT}
    return Mounter([LocalShell(THIS_HOST)], mounts, journal, known, (say if say is not None else []).append)


def points(place: Path) -> dict[str, tuple[str, ...]]:
    return {seen.point: seen.options for seen in read_mounts() if seen.point.startswith(f"{place}/")}


def test_a_mount_gives_no_rights_and_goes(place: Path) -> None:
    """At a directory that was there and at one that is made, with a blank in its name."""
    (place / "there").mkdir()
    with mounting_of(place, mount(place / "there"), mount(place / "new one")):
        seen = points(place)
        assert set(seen) == {str(place / "there"), str(place / "new one")}
        assert all({"nosuid", "nodev", "noexec"} <= set(options) for options in seen.values())
    assert points(place) == {} and (place / "there").is_dir() and not (place / "new one").exists()
    assert FileJournal(place / "journal").entries() == []


@pytest.mark.parametrize(
    ("make", "why"),
    [
        ("mkdir at && touch at/file", "is not empty"),
        ("mkdir at && touch at/.hidden", "is not empty"),
        ("mkdir at && mount -t tmpfs theirs at", "something is mounted there already"),
        ("touch at", "is not a directory"),
        ("mkdir real && ln -s real at", "is a symbolic link"),
        ("mkdir real && ln -s real up && mkdir real/at", "up is a symbolic link"),
        ("ln -s /etc at", "is a symbolic link"),
        ("mkdir at && chown 65534 at", "belongs to another user"),
        ("mkdir up && chown 65534 up && mkdir up/at", "up belongs to another user"),
        ("mkdir at && chmod 777 at", "can be changed by other users"),
        ("mkdir -p up/at && chmod 775 up", "up can be changed by other users"),
        ("true", ""),
    ],
)
def test_what_hides_something_or_may_be_replaced_is_refused_before_anything_is_mounted(
    place: Path, make: str, why: str
) -> None:
    subprocess.run(["sh", "-ec", make], cwd=place, check=True)
    at = place / "up" / "at" if "up" in make else place / "at"
    if not why:
        at, why = place / "no" / "at", "no does not exist"
    before = points(place)
    with pytest.raises(AssayError) as caught, mounting_of(place, mount(place / "first"), mount(at)):
        pass
    assert why in caught.value.message and str(at) in caught.value.message
    assert points(place) == before and not (place / "first").exists()


def test_a_home_is_no_place_for_a_mount(place: Path) -> None:
    with pytest.raises(AssayError, match="is the home directory of a user"), mounting_of(place, mount(Path("/root"))):
        pass


def test_what_mount_says_is_said_whatever_its_exit_code(place: Path) -> None:
    """32 means that it failed, not that something is mounted there."""
    program = place / "bin" / "mount"
    program.parent.mkdir()
    words = "mount error(13): access denied by nas1 for username=a%hidden"
    program.write_text(f"#!/bin/sh\necho '{words}' >&2\necho 'Refer to the mount.cifs(8) manual page' >&2\nexit 32\n")
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        with pytest.raises(AssayError) as caught, mounting_of(place, mount(place / "at", "//nas1/x", "cifs")):
            pass
    told = caught.value.message
    assert "cannot be mounted: mount error(13): access denied by nas1" in told
    assert "hidden" not in told and "already" not in told and "Refer" not in told
    assert not (place / "at").exists()


def test_a_run_that_goes_on_takes_its_own_mounts_over_and_no_others(place: Path) -> None:
    ours = mount(place / "at")
    mounting_of(place, ours).__enter__()
    with mounting_of(place, ours):
        assert list(points(place)) == [str(place / "at")], "nothing was mounted over it"
    assert points(place) == {} and not (place / "at").exists()
    mounting_of(place, ours).__enter__()
    subprocess.run(["umount", place / "at"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "theirs", place / "at"], check=True)
    theirs = points(place)
    with pytest.raises(AssayError, match="something is mounted there already"), mounting_of(place, ours):
        pass
    assert points(place) == theirs


def test_what_is_mounted_again_is_known_again_whenever_the_run_is_killed(place: Path) -> None:
    """After it was unmounted, and after it was mounted again, before that could be written down."""
    ours, shell = mount(place / "new"), LocalShell(THIS_HOST)
    for last in ("taken", "put", "failed"):
        mounting = mounting_of(place, ours)
        mounting.__enter__()
        first = mount_number(place / "new")
        changing = mounting.remounting([ours])
        changing.__enter__()
        mounting.unmount(shell, [ours])
        assert str(place / "new") not in points(place) and (place / "new").is_dir()
        if last == "put":
            # It takes the number that has become free.
            (place / "other").mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "theirs", place / "other"], check=True)
            mounting.mount(shell, [ours])
            assert mount_number(place / "new") != first
        if last == "failed":
            changing.__exit__(None, None, None)
        with mounting_of(place, ours):
            assert [at for at in points(place) if at.endswith("/new")] == [str(place / "new")], (
                "nothing was mounted over it"
            )
        assert str(place / "new") not in points(place) and not (place / "new").exists(), last
    assert FileJournal(place / "journal").entries() == []


def mount_number(point: Path) -> str:
    """Which mount is there; each has another number."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return next(line.split()[0] for line in lines if line.split()[4] == str(point))


def test_something_else_that_was_mounted_meanwhile_is_not_taken_for_it(place: Path) -> None:
    ours = mount(place / "at")
    mounting = mounting_of(place, ours)
    mounting.__enter__()
    mounting.remounting([ours]).__enter__()
    mounting.unmount(LocalShell(THIS_HOST), [ours])
    subprocess.run(["mount", "-t", "tmpfs", "theirs", place / "at"], check=True)
    theirs = points(place)
    with pytest.raises(AssayError, match="something is mounted there already"), mounting_of(place, ours):
        pass
    assert points(place) == theirs


def test_what_could_not_be_mounted_again_is_restored(place: Path) -> None:
    ours = mount(place / "at")
    with mounting_of(place, ours) as mounting:
        mounting.unmount(LocalShell(THIS_HOST), [ours])
        mounting.restore()
        assert list(points(place)) == [str(place / "at")]
    assert points(place) == {} and not (place / "at").exists()


def test_what_was_mounted_over_it_meanwhile_stays(place: Path) -> None:
    said: list[str] = []
    with mounting_of(place, mount(place / "at"), say=said):
        subprocess.run(["mount", "-t", "tmpfs", "theirs", place / "at"], check=True)
        (place / "at" / "letter").write_text("dear")
    assert (place / "at" / "letter").read_text() == "dear"
    assert "something else is mounted there now" in said[0]
    assert [entry.name for entry in FileJournal(place / "journal").entries()] == [str(place / "at")]


def test_hundreds_of_places_hide_nothing(place: Path) -> None:
    """Directories, links and files at random: what is mounted lies on nothing that held anything."""
    chance = random.Random(5)
    for number in range(25):
        root = place / str(number)
        (root / "theirs").mkdir(parents=True)
        (root / "theirs" / "letter").write_text("dear")
        at = root
        for name in ("a", "b"):
            act = chance.choice(["dir", "dir", "dir", "link", "file", "full", "open", "none"])
            at = at / name
            if not at.parent.is_dir() or at.exists():
                break
            if act in ("dir", "full", "open"):
                at.mkdir()
                at.chmod(0o777 if act == "open" else 0o755)
            if act == "full":
                (at / "letter").write_text("dear")
            if act == "link":
                at.symlink_to(root / chance.choice(["theirs", "theirs/letter", "nowhere"]))
            if act == "file":
                at.write_text("dear")
        try:
            with mounting_of(root, mount(at)):
                assert list(points(place)) == [str(at)]
                assert not any(path.name == "letter" and path.parent == at for path in root.rglob("letter"))
        except AssayError:
            pass
        assert points(place) == {}
        assert all(path.read_text() == "dear" for path in root.rglob("letter"))


PROGRAM = """#!/bin/sh
PATH=${PATH#*:}
mount "$@" || exit
case $* in *remount*) exit;; esac
for at; do :; done
"""


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (
            'mount -t tmpfs theirs "$at" && echo dear >"$at/letter"',
            "something else was mounted there at the same time",
        ),
        ('mkdir "$at.x" && mount --move "$at" "$at.x"', "was replaced while it was mounted"),
    ],
    ids=["mounted over", "elsewhere"],
)
def test_what_comes_while_it_is_mounted_stays_and_ours_is_no_other_s(place: Path, act: str, said: str) -> None:
    """As soon as mount(8) has done its work, and before it is asked what is mounted there."""
    program = place / "bin" / "mount"
    program.parent.mkdir()
    program.write_text(PROGRAM + act)
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        with pytest.raises(AssayError) as caught, mounting_of(place, mount(place / "at")):
            pass
    assert said in caught.value.message
    if "letter" in act:
        assert (place / "at" / "letter").read_text() == "dear\n"
        options = [
            seen.options for seen in read_mounts() if seen.source == "theirs" and seen.point == str(place / "at")
        ]
        assert options and not {"nosuid", "nodev", "noexec"} & set(options[0])
        subprocess.run(["umount", place / "at"], check=True)
    else:
        assert points(place) == {}


def test_what_is_laid_over_it_keeps_its_rights(place: Path) -> None:
    """Between the look at what is mounted there and the limits of ours."""
    program = place / "bin" / "grep"
    program.parent.mkdir()
    over = 'mount -t tmpfs theirs "%s"' % (place / "at")
    program.write_text(f'#!/bin/sh\nPATH=${{PATH#*:}}\ncase $* in *mnt_id*) {over};; esac\nexec grep "$@"\n')
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        said: list[str] = []
        with mounting_of(place, mount(place / "at"), say=said):
            limited = {
                seen.source: "nodev" in seen.options for seen in read_mounts() if seen.point == str(place / "at")
            }
            assert limited == {"ours": True, "theirs": False}
    assert "something else is mounted there now" in said[0]
    subprocess.run(["umount", place / "at"], check=True)


@pytest.mark.parametrize(
    ("type_", "package"), [("lustre", "lustre-client"), ("cifs", "cifs-utils"), ("smb3", "cifs-utils")]
)
def test_a_missing_helper_is_named_with_its_package(place: Path, type_: str, package: str) -> None:
    if Path("/sbin", f"mount.{type_}").exists():
        pytest.skip("it is installed")
    with pytest.raises(AssayError) as caught:
        check_mounts([LocalShell(THIS_HOST)], [mount(place / "at", "nas1:/x", type_)])
    assert caught.value.message.endswith(f"{place}/at: the program mount.{type_} is not installed")
    assert package in caught.value.hint
    # The kernel knows a server by its address alone, and needs no helper then.
    known = mount(place / "at", "nas1:/x", type_).model_copy(update={"options": "ro,addr=10.0.0.1"})
    check_mounts([LocalShell(THIS_HOST)], [known])


def test_a_link_in_place_of_the_directory_above_leads_nowhere(place: Path) -> None:
    """It comes once all has been looked at."""
    (place / "up").mkdir()
    (place / "theirs").mkdir()
    program = place / "bin" / "mkdir"
    program.parent.mkdir()
    swap = f'mv "{place}/up" "{place}/away" && ln -s theirs "{place}/up"'
    program.write_text(f'#!/bin/sh\nPATH=${{PATH#*:}}\n{swap}\nexec mkdir "$@"\n')
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        with pytest.raises(AssayError) as caught, mounting_of(place, mount(place / "up" / "at")):
            pass
    assert "was replaced while it was mounted" in caught.value.message
    assert list((place / "theirs").iterdir()) == [] and points(place) == {}
