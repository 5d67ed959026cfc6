"""The check of arms for all other operations finds what it must, and only that."""

import sys
from pathlib import Path

import pytest
from paths import REPOSITORY

TOOLS = REPOSITORY / "tools"
sys.path.insert(0, str(TOOLS))

import check_operations  # noqa: E402


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("match op.kind {\n OpKind::Read => 1,\n _ => 2,\n}", [(1, "_")]),
        ("\nmatch operation {\n Operation::Put => { f(); }\n other => g(other),\n}", [(2, "other")]),
        ("match kind {\n data_kinds!() => 1,\n _ => 2,\n}", [(1, "_")]),
        ("match kind {\n OpKind::Read => match x { Some(_) => 1, _ => 2 },\n name_kinds!() => 3,\n}", []),
        ("match x {\n Some(1) => match op.kind { OpKind::Read => 1, _ => 2 },\n _ => 3,\n}", [(2, "_")]),
        ("match x {\n 1 => OpKind::Read,\n _ => OpKind::Write,\n}", []),
        ("match x {\n Some(n) if op.kind == OpKind::Sync => n,\n _ => 0,\n}", []),
        ("match op {\n OpKind::Read => 1, // _ => 2,\n OpKind::Write => 3,\n}", []),
        (
            "match op { OpKind::Read if x => 1, OpKind::Read | OpKind::Write => 2, _ if y => 3, object_kinds!() => 4 }",
            [],
        ),
        ("matches!(op, OpKind::Read)", []),
    ],
)
def test_an_arm_for_all_others_is_found(text: str, found: list[tuple[int, str]]) -> None:
    assert list(check_operations.problems(text)) == found


def test_the_engine_is_looked_at() -> None:
    texts = [path.read_text() for path in Path(REPOSITORY / "engine").rglob("*.rs")]
    matches = [block for text in texts for _, block in check_operations.blocks(text)]
    assert sum(bool(check_operations.OPERATION.search(block)) for block in matches) > 10
