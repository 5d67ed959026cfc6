"""`assay-engine conform` at tables: real services hold, and one that lies is found out."""

import json
import subprocess
from typing import Any

import pytest
from run_tools import ENGINE, needs_engine
from s3_proxy import Harm
from s3_servers import HANG_GUARD
from s3_tools import ROOT_KEYS, Json, environment
from table_harm import one_bit, other_contents, other_items, says_done
from table_tools import SORTED, TableAt, Watch, of_others, watched

pytestmark = needs_engine


def conform(at: TableAt, only: str, expect: int, **more: Any) -> Json:
    """The report of the checks whose words have `only` in them; it ends with the exit code that is expected."""
    target = {"kind": "dynamodb", "endpoints": [at.server.endpoint], "table": at.table, **more}
    done = subprocess.run(
        [ENGINE, "conform", "--json", "--only", only, "-"], input=json.dumps(target), capture_output=True, text=True,
        check=False, env=environment(**ROOT_KEYS), timeout=HANG_GUARD,
    )  # fmt: skip
    assert done.returncode == expect, (done.stdout[-2000:], done.stderr)
    answer: Json = json.loads(done.stdout) if done.stdout else {"said": done.stderr}
    return answer


def verdicts(answer: Json) -> dict[str, set[str]]:
    """Check -> its verdicts in all ways."""
    found: dict[str, set[str]] = {}
    for row in answer["report"]["rows"]:
        found.setdefault(row["check"], set()).add(row["verdict"])
    return found


def test_the_most_faithful_service_holds(one_table: TableAt) -> None:
    found = verdicts(conform(one_table, "", 0, **SORTED))
    assert {verdict for every in found.values() for verdict in every} == {"holds"}, found
    operations = {"put", "get", "update", "delete", "batch_put", "batch_get", "query", "scan", "object_mix"}
    assert operations <= set(found) and not {"head", "list", "copy", "multi_delete"} & set(found)
    assert not one_table.is_there(), "the table is removed, too"


@pytest.mark.parametrize("only", ["objects: sizes", "objects: a key", "objects: scan"])
def test_each_service_holds(table: TableAt, only: str) -> None:
    found = verdicts(conform(table, only, 0))
    assert found and {verdict for every in found.values() for verdict in every} == {"holds"}, found
    assert not table.is_there()


def test_a_table_of_others_is_refused(table: TableAt) -> None:
    table.make(*of_others("mine"))
    before = table.everything()
    said = conform(table, "objects: sizes", 2)
    assert "was not made by Assay" in str(said), said
    assert table.everything() == before
    conform(table, "objects: sizes", 0, destroy=True)
    assert table.everything() == before, "where it is allowed nothing of others is touched, and nothing stays"


LIES: list[tuple[str, str, Harm]] = [
    ("get", "GetItem", other_contents(one_bit)),
    ("batch_get", "BatchGetItem", other_items(lambda items: items[1:])),
    ("query", "Query", other_items(lambda items: items[1:])),
    ("scan", "Scan", other_items(lambda items: items[1:])),
    ("a key that is given up", "DeleteItem", says_done),
    ("a key that is taken", "PutItem", says_done),
    ("batch_put", "BatchWriteItem", says_done),
]


@pytest.mark.parametrize(("check", "action", "harm"), LIES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_service_that_lies_does_not_hold(one_table: TableAt, check: str, action: str, harm: Harm) -> None:
    """All that it answers to one question is wrong."""
    watch = Watch(harm, -1, action, None)
    words = f"objects: {check}" + ("" if " " in check else " (")
    with watched(one_table, watch) as proxy:
        found = conform(one_table, words, 1, endpoints=[proxy.endpoint], **SORTED)
    assert watch.struck > 0
    assert "does_not_hold" in verdicts(found)[check], found
