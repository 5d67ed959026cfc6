"""The check that no tree is removed across mounts finds what it must, and only that."""

import sys
from pathlib import Path

import pytest
from paths import REPOSITORY

TOOLS = REPOSITORY / "tools"
sys.path.insert(0, str(TOOLS))

import check_removals  # noqa: E402


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("shutil.rmtree(folder)", 1),
        ("from shutil import rmtree", 1),
        ("with tempfile.TemporaryDirectory() as folder:", 1),
        ("os.removedirs(path)", 1),
        ("  - rm -rf /var/lib/x", 1),
        ("rm -f -r $d", 1),
        ("rm --recursive $d", 1),
        ('run(["rm", "-r", "--", folder])', 1),
        ("find $d -mindepth 1 -delete", 1),
        ("std::fs::remove_dir_all(&path)?;", 1),
        ("fn f() {}\n#[cfg(test)]\nmod tests { fn g() { remove_dir_all(p) } }", 0),
        ("rm -f /run/x", 0),
        ('rm "$file"; rmdir "$d"', 0),
        ("farm -r", 0),
        ("os.rmdir(name, dir_fd=fd)", 0),
    ],
)
def test_a_removal_is_seen(text: str, count: int) -> None:
    assert len(check_removals.found_in(text)) == count


def test_what_is_not_allowed_and_what_nothing_uses_is_told(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "one.py").write_text("\nrmtree(x)\n")
    (tmp_path / "src" / "two.py").write_text("\nrmtree(x)\n")
    found = check_removals.problems(tmp_path, ("src",), {"src/two.py": "its own", "src/gone.py": "nothing"})
    assert [line.split(": ")[0] for line in found] == ["src/one.py:2", "src/gone.py"]
