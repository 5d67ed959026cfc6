"""Files that a study or a need names: what is wrong in them is said without their words."""

from pathlib import Path

import pytest
from in_process import run_here

from assay.model.base import AssayError, LineError
from assay.model.quoting import FileOrigin
from assay.model.study.hosts import Hosts, HostTool
from assay.site.inventory.site import InventorySite

WORD = "CANARYx7"
CONTENTS = [
    f"root:$y${WORD}$x:19000:0:99999:7:::\n",
    f"machine x login y password {WORD}\n",
    f"{WORD} slots={WORD}\n",
    f"hosts:\n  {WORD}[1-: {{user: x}}\n",
    f"hosts: {{a: {{{WORD}: b}}}}\n",
    f"hosts: {{a: {{address: '{WORD} x'}}}}\n",
    f"hosts: {{a: }}\ngroups: {{b: {WORD}}}\n",
    f"[web]\na ansible_connection={WORD}\n",
    f"a: &x 1\nb: *y{WORD}\n",
    f'{{"{WORD}": "{WORD}"}}',
    f"design: {WORD}\nparts: ${WORD.lower()}\n",
    f"book: {WORD}\nprices: [{{service: {WORD}}}]\n",
    f"key: !!python/{WORD} x\n",
]
STUDY = """\
study: s
question: q
ceilings: none
network: none
repeats: 1
targets:
  disk: {kind: file, path: /srv/none}
workloads:
  w: {operations: [write], file_size: 64KiB, record_size: 64KiB, cache: keep}
"""
PRICES = "prices: {{book: {}, term: on-demand, use: {{duty: 100%}}, designs: {{disk: {{design: {}}}}}}}\n"
NAMED = {
    "inventory": STUDY + "hosts: {inventory: x.txt}\n",
    "testbed": STUDY + "testbed: ./x.txt\n",
    "book": STUDY + PRICES.format("./x.txt", "nfs-volumes"),
    "design": STUDY + PRICES.format("aws-eu-west-1-2016", "./x.txt"),
}


@pytest.mark.parametrize(
    "content", [f"{WORD} ansible_connection={WORD}\n", f'{{"instances": [{{"nodeType": "{WORD}"}}]}}']
)
@pytest.mark.parametrize("tool", ["ansible", "terraform"])
def test_words_of_a_file_of_a_tool_are_not_shown(tool: str, content: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(content)
    (tmp_path / "x.txt").symlink_to("secret")
    site = InventorySite(Hosts(known_by=HostTool(tool=tool, name="x.txt")), tmp_path)
    with pytest.raises(AssayError) as refused:
        site.check_ready(1)
    assert WORD not in f"{refused.value.message} {refused.value.hint}"
    assert "x.txt" in refused.value.message


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("what", NAMED)
def test_words_of_a_file_that_a_study_names_are_not_shown(what: str, content: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(content)
    (tmp_path / "x.txt").symlink_to("secret")
    study = tmp_path / "study.yaml"
    study.write_text(NAMED[what])
    refused = run_here(tmp_path, "check", study)
    assert refused.returncode == 2
    assert WORD.lower() not in (refused.stdout + refused.stderr).lower()
    assert "x.txt" in refused.stderr and "shows what is wrong" in refused.stderr


@pytest.mark.parametrize("key", ["book: ./x.txt", "candidates: [{design: ./x.txt}]"])
def test_words_of_a_file_that_a_need_names_are_not_shown(key: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(CONTENTS[0])
    (tmp_path / "needs").mkdir()
    (tmp_path / "needs" / "x.txt").symlink_to("../secret")
    need = tmp_path / "needs" / "need.yaml"
    need.write_text(f"need: n\naccess: block\ncapacity: 1TB\n{key}\n")
    refused = run_here(tmp_path, "advise", need, "--all")
    said = refused.stdout + refused.stderr
    assert refused.returncode and WORD not in said
    assert "x.txt:1: " in said


@pytest.mark.parametrize("what", NAMED)
def test_a_file_that_lies_with_the_study_is_quoted(what: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.txt").write_text(CONTENTS[2])
    study = tmp_path / "study.yaml"
    study.write_text(NAMED[what].replace("x.txt", "sub/x.txt"))
    assert WORD in run_here(tmp_path, "check", study).stderr


@pytest.mark.parametrize("name", ["{0}/x.txt", "../x.txt", "link/x.txt", ".x.txt", "hard", "sub/../../x.txt"])
def test_a_file_that_lies_elsewhere_or_is_hidden_is_not_quoted(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    (folder / "sub").mkdir(parents=True)
    for file in (tmp_path / "x.txt", folder / ".x.txt"):
        file.write_text(CONTENTS[2])
    (folder / "link").symlink_to("..")
    (folder / "hard").hardlink_to(tmp_path / "x.txt")
    (folder / "study.yaml").write_text(NAMED["inventory"].replace("x.txt", name.format(tmp_path)))
    refused = run_here(folder, "check", "study.yaml")
    assert WORD not in refused.stderr and ":1: this line is not valid in an inventory" in refused.stderr


def test_a_file_that_is_put_in_place_of_a_link_gives_no_leave(tmp_path: Path) -> None:
    """The name led to a secret when it was read, and to a file of the study's once something was wrong in it."""
    (tmp_path / "x.txt").write_text("n1 n2\n")
    assert FileOrigin(tmp_path).may_quote(tmp_path / "x.txt", b"n1 n2\n")
    assert not FileOrigin(tmp_path).may_quote(tmp_path / "x.txt", b"n1 CA\n")
    assert not FileOrigin(tmp_path).may_quote(tmp_path / "x.txt", b"secret")


def test_a_file_whose_name_is_typed_is_quoted(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text(CONTENTS[2])
    assert (
        f"x.txt:1: `slots={WORD}` after the node set"
        in run_here(tmp_path, "preflight", "--inventory", file, "--servers", "a").stderr
    )
    assert WORD in run_here(tmp_path, "prices", "check", file).stderr
    assert WORD in run_here(tmp_path, "price", file).stderr


def test_the_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"a\nb {WORD}\n")
    (tmp_path / "hosts.txt").symlink_to("secret")
    with pytest.raises(LineError) as refused:
        InventorySite(Hosts(inventory="hosts.txt"), tmp_path).check_ready(1)
    assert refused.value.line == 2
    assert refused.value.message == f"{tmp_path}/hosts.txt:2: this line is not valid in an inventory"


@pytest.mark.parametrize("content", CONTENTS[:3])
def test_what_is_no_inventory_is_not_copied_to_a_run(content: str, tmp_path: Path) -> None:
    """The name may lead to another file once it has been checked."""
    (tmp_path / "secret").write_text(content)
    (tmp_path / "hosts.txt").symlink_to("secret")
    (copied,) = InventorySite(Hosts(inventory="hosts.txt"), tmp_path).files.values()
    with pytest.raises(AssayError) as refused:
        copied()
    assert WORD not in refused.value.message + refused.value.hint
