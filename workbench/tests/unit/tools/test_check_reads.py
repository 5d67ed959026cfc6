"""The check that nothing reads a file without a bound finds what it must, and only that."""

import sys
from pathlib import Path

import pytest
from paths import REPOSITORY

TOOLS = REPOSITORY / "tools"
sys.path.insert(0, str(TOOLS))

import check_reads  # noqa: E402


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("yaml.safe_load(data)", ["safe_load"]),
        ("yaml.load(data, Loader=yaml.SafeLoader)", ["load"]),
        ("Path(name).read_text()", ["read_text"]),
        ("(folder / 'x').read_bytes()", ["read_bytes"]),
        ("open(name).read()", ["open"]),
        ("open(name, 'rb').read()", ["open"]),
        ("path.open()", ["open"]),
        ("path.open(mode='r')", ["open"]),
        ("path.open(mode)", ["open"]),
        ("os.fdopen(os.open(path, os.O_RDONLY), 'rb').read()", ["fdopen"]),
        ("path.open('w')", []),
        ("open(name, 'xb')", []),
        ("os.fdopen(fd, 'w')", []),
        ("os.open(path, flags)", []),
        ("RunStore.open(folder)", []),
        ("json.loads(text)", []),
        ("sample.read_bytes", []),
        ("read_named(path, name, hint, most)", []),
    ],
)
def test_a_read_is_seen(text: str, kinds: list[str]) -> None:
    assert [kind for _, kind in check_reads.found_in(text)] == kinds


def test_what_is_not_allowed_and_what_is_allowed_in_vain_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = path.read_text()\n")
    (tmp_path / "b.py").write_text("y = path.read_bytes()\n")
    allowed = {"b.py": {"read_bytes": "why", "open": "why"}, "c.py": {}}
    assert check_reads.problems(tmp_path, allowed) == [
        "a.py:2: read_text: read it with assay.model.user_files, .regular or .source",
        "b.py: no open any more: remove it from the list",
        "c.py: there is no such file",
    ]
