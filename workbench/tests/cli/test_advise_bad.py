"""Needs that are wrong: one clear line each, by the real command."""

import json
from decimal import Decimal

import pytest
from paths import GOLDEN, REPOSITORY
from run_tools import assay

from assay.model.yaml_files import read_model
from assay.rooms.advice.model.advice import Advice
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.published_evidence import EvidenceFile

HERE = GOLDEN
BAD = HERE / "bad_needs"
EXPECTED = BAD / "expected.txt"


@pytest.fixture(scope="module")
def answers():
    """File -> what the command says of it."""
    found = {}
    for path in sorted(BAD.glob("*.yaml")):
        done = assay(BAD, "advise", path.name, expect=2)
        assert done.stdout == ""
        found[path.name] = done.stderr
    return found


def test_each_bad_need_is_refused_as_expected(answers):
    assert "".join(answers.values()) == EXPECTED.read_text()


def test_each_is_one_line_and_a_hint(answers):
    assert len(answers) > 20
    for name, text in answers.items():
        first, second = text.splitlines()
        assert first.startswith(f"error: {name}:") and second.startswith("hint: "), text
        line = int(first.split(":")[2])
        assert 1 <= line <= max(1, len((BAD / name).read_text().splitlines()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.yaml"], "error: cannot read the need none.yaml: no such file or directory"),
        (["need.yaml", "--term", "weekly"], "error: --term: unknown term `weekly`"),
        (["need.yaml", "--design", "beegf"], "error: there is no design `beegf`"),
        (["need.yaml", "--book", "nowhere"], "error: there is no price book `nowhere`"),
        (["need.yaml", "--evidence", "none.yaml"], "error: none.yaml: no such file or directory"),
        (["need.yaml", "--evidence", "last"], "error: there are no runs in assay-runs"),
        (["need.yaml", "--evidence", "bad.yaml"], "error: bad.yaml:4: figures[0].value: 500 is not a throughput"),
        (["need.yaml", "--evidence", "ends.yaml"], "error: ends.yaml:4: figures[0].value: 5MB/s is not between"),
    ],
)
def test_wrong_options(tmp_path, arguments, message):
    (tmp_path / "need.yaml").write_text("need: x\naccess: file\ncapacity: 1TB\n")
    head = "evidence: x\nsource: y\nfigures:\n"
    (tmp_path / "bad.yaml").write_text(head + "  - {design: nfs-volumes, metric: read, value: 500}\n")
    figure = "{design: nfs-volumes, metric: read, value: 5MB/s, low: 6MB/s, high: 7MB/s}"
    (tmp_path / "ends.yaml").write_text(f"{head}  - {figure}\n")
    done = assay(tmp_path, "advise", *arguments, expect=2)
    assert done.stderr.startswith(message), done.stderr
    assert done.stdout == ""


def test_the_command_answers_in_words_and_json():
    words = assay(HERE / "needs", "advise", "04-measured-nfs.yaml", "--all").stdout
    assert "Recommended: nfs-instance-store instance=d2.8xlarge" in words
    for part in ("What would change this:", "Rejected designs, each with", "* Pareto-optimal", "NFS-2016"):
        assert part in words
    found = json.loads(assay(HERE / "needs", "advise", "04-measured-nfs.yaml", "--json").stdout)
    assert found["schema_version"] == 1
    assert found["recommended"] == ["nfs-instance-store instance=d2.8xlarge"]
    assert found["prices"]["currency"] == "USD" and Decimal(found["options"][0]["price"]["paid"]) == 26224
    assert Advice.model_validate(found).model_dump(mode="json") == found
    assert {row["item"] for row in found["rows"]} >= {"d2.8xlarge"}


def test_nothing_is_an_exit_code_of_its_own(tmp_path):
    text = (HERE / "needs/01-home.yaml").read_text().replace("3000 USD/month", "1 USD in all")
    (tmp_path / "need.yaml").write_text(text.replace("book.yaml", str(HERE / "needs/book.yaml")))
    done = assay(tmp_path, "advise", "need.yaml", "--design", "orangefs-volumes", "--design", "efs-bursting", expect=1)
    assert "Nothing meets this need" in done.stdout and "budget excludes" in done.stdout


def test_designs_and_terms_of_the_command_line(tmp_path):
    arguments = ["01-home.yaml", "--design", "efs-bursting", "--design", "nfs-gp3", "--term", "on-demand", "--json"]
    found = json.loads(assay(HERE / "needs", "advise", *arguments).stdout)
    designs = {item["design"] for item in found["options"]} | {item["design"] for item in found["rejected"]}
    assert designs == {"efs-bursting", "nfs-gp3"}


def test_the_guide_shows_what_works(tmp_path):
    guide = (REPOSITORY / "docs/guides/advise.md").read_text()
    need, evidence, runs = (part.split("```")[0] for part in guide.split("```yaml\n")[1:])
    (tmp_path / "need.yaml").write_text(need + f"book: {HERE / 'needs/book.yaml'}\n")
    (tmp_path / "own.yaml").write_text(evidence)
    done = assay(tmp_path, "advise", "need.yaml", "--evidence", "own.yaml")
    assert "own.yaml: 1 figure of evidence" in done.stderr and done.stdout.startswith("Recommended: ")
    assert len(read_model(EvidenceFile, runs.encode(), "runs.yaml", "").runs) == 2
    for key in Need.model_fields:
        assert f"`{key}`" in guide, key
