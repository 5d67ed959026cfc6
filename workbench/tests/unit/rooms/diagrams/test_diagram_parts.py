"""The part `diagram` of papers: what each kind draws, in words and in every form, and what is wrong in it."""

import re
from pathlib import Path

import pytest
from drawn import faults
from paths import GOLDEN
from sample_run import sample_run

from assay.model.base import AssayError
from assay.report.document import Chart
from assay.report.draw.diagram import Diagram
from assay.report.html import render_html
from assay.report.markdown import render_markdown
from assay.report.typst import document_data, render_pdf
from assay.report.view import RunView
from assay.rooms.paper.work.build import Paper
from assay.rooms.paper.work.description import DescribedPaper

HEAD = "title: Figures\nruns: {a: sample}\nparts:\n  - abstract\n"
SITES = """\
sites: {lab: {about: a room}, cloud: }
hosts:
  client1: {role: client, site: lab, cpu: 2, memory: 256MB, mounts: [{of: "nfs1:/data", at: /mnt, type: nfs4}]}
  nfs1: {site: lab, disks: [{kind: ATA disk, size: 80GB, count: 4, raid: 10, at: /dev/md0}], exports: /data}
  vm: {role: client, site: cloud, count: 3, instance: c5n.large}
  server[1-4]: &same {site: cloud, disks: [{}]}
switches: {sw1: {site: lab, ports: 24, rate: 1 Gbit/s}, sw2: {site: lab}}
links:
  - {from: client1, to: sw1, rate: 1 Gbit/s, delay: 100us}
  - {from: client1, to: sw2}
  - {from: sw1, to: sw2, rate: 10 Gbit/s}
  - {from: nfs1, to: sw1, rate: 2.5 Gbit/s}
  - {from: lab, to: cloud, rate: 100 Mbit/s, delay: 43500us}
""".replace("server[1-4]: &same", '"server[1-4]":')
HOSTS = """\
hosts: {"client[1-8]": {link: 25Gb/s}, nfs1: {link: 100Gb/s, jump: bastion}}
groups: {clients: "client[1-8]"}
"""
ALL = (
    "design: nfs-gp3, set: {volumes: 8}",
    "stack: nfs-gp3, clients: 8",
    "box: wan, name: Test bed",
    "inventory: hosts.yaml",
    "run: a",
    "file: sites.yaml",
    "network: {hosts: {a: , b: }, links: [{from: a, to: b, rate: 1 Gbit/s}]}",
    "raid: {level: 5, disks: 4, chunk: 64KiB}",
    "frame: aoe",
    "frame: aoe-config",
    "steps: [fastq, {step: align, about: bowtie2}, [sort, index], bam]",
)
EXPECTED = (GOLDEN / "diagrams" / "words.txt").read_text(encoding="utf-8").splitlines()
"""Title and words of each, or their beginning."""


def paper(folder: Path, parts: str, **files: str) -> Paper:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    path = folder / "paper.yaml"
    path.write_text(HEAD + parts, encoding="utf-8")
    return DescribedPaper(path).build({"a": RunView(sample_run())})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Paper:
    parts = "".join(f"  - diagram: {{{one}}}\n" for one in ALL)
    return paper(tmp_path_factory.mktemp("figures"), parts, sites=SITES, hosts=HOSTS)


def charts(made: Paper) -> list[Chart]:
    return [block for section in made.document.sections for block in section.blocks if isinstance(block, Chart)]


def test_each_kind_is_drawn_and_says_so_in_words(whole: Paper) -> None:
    for chart, expected in zip(charts(whole), EXPECTED, strict=True):
        assert isinstance(chart.drawing, Diagram) and faults(chart.drawing) == []
        assert f"{chart.title}|{chart.drawing.words}".startswith(expected)
    assert len({chart.id for chart in charts(whole)}) == len(ALL)


def test_a_caption_explains_what_the_picture_abbreviates(whole: Paper) -> None:
    frame = charts(whole)[8]
    assert "R: response flag; E: error flag;" in frame.caption and "Source: AoE (ATA over Ethernet)" in frame.caption
    assert charts(whole)[5].caption.startswith("9 hosts in 4 boxes.")


def test_all_forms_have_the_figures(whole: Paper) -> None:
    page, text = render_html(whole.document), render_markdown(whole.document)
    assert page.count("<svg class=diagram") == len(ALL) and "destination address (6 bytes)" in page
    assert text.count("(data:image/svg+xml;base64,") == len(ALL) and "![ATA over Ethernet, an ATA command. Rows" in text
    pictures = [block for one in document_data(whole.document)["sections"] for block in one["blocks"] if "svg" in block]
    assert len(pictures) == len(ALL) and "tag (4 bytes)" in pictures[8]["alt"]
    assert all(picture["width"] <= 482 for picture in pictures)
    assert render_pdf(whole.document, 0.0) == render_pdf(whole.document, 0.0)


def test_names_are_text_and_never_markup(tmp_path: Path) -> None:
    names = ["<script>x</script>", "計算機", "x" * 200, "a&b"]
    hosts = "".join(f"  {name!r}: {{}}\n" for name in names)
    made = paper(tmp_path, "  - diagram: {file: n.yaml}\n", n=f"hosts:\n{hosts}")
    page = render_html(made.document)
    assert "<script>x" not in page and "&lt;script&gt;x" in page and names[2] in page
    assert render_pdf(made.document, 0.0).startswith(b"%PDF")
    (chart,) = charts(made)
    assert isinstance(chart.drawing, Diagram) and names[2] in chart.drawing.words
    assert any(re.fullmatch("x{3,}…", text) for text in re.findall(r">([^<]*)</text>", page))


@pytest.mark.parametrize(
    ("part", "text", "error"),
    [
        ("file: e.yaml", "", "e.yaml:1: the file is empty"),
        ("file: e.yaml", "hosts: {}", "e.yaml:1: hosts: it is empty"),
        (
            "file: e.yaml",
            "hosts:\n  a: {}\n  b: {}\nlinks:\n  - {from: a, to: c}",
            "e.yaml:5: links[0].to: there is no host, switch or site `c`",
        ),
        (
            "file: e.yaml",
            "hosts:\n  a: {}\nlinks:\n  - {from: a, to: a}",
            "e.yaml:4: links[0].to: a link from a to itself",
        ),
        ("file: e.yaml", "hosts:\n  a: {disks: [{count: 0}]}", "e.yaml:2: hosts.a.disks[0].count: 0 is out of range"),
        (
            "file: e.yaml",
            "hosts:\n  a:\n    disks:\n    - {count: 2, raid: 5}",
            "e.yaml:4: hosts.a.disks[0].raid: RAID 5 needs 3 disks at least, not 2",
        ),
        (
            "file: e.yaml",
            "hosts: {a: {mounts: [{of: 'nfs2:/x'}]}, nfs1: {exports: /x}}",
            "e.yaml:1: hosts.a.mounts[0].of: there is no host `nfs2`",
        ),
        (
            "file: e.yaml",
            "hosts: {a: {mounts: [{of: 'nfs1:/y'}]}, nfs1: {exports: /x}}",
            "e.yaml:1: hosts.a.mounts[0].of: nfs1 does not export /y",
        ),
        ("file: e.yaml", "hosts: {a: {site: x}}", "e.yaml:1: hosts.a.site: there is no site `x`"),
        ("file: e.yaml", "sites: {x: }\nhosts: {a: {}}", "e.yaml:1: sites.x: no host is at the site x"),
        ("file: e.yaml", "hosts: {a: {}}\nswitches: {a: }", "e.yaml:2: switches.a: a is also one of `hosts`"),
        ("file: e.yaml", "hosts: {a: {}}\nswitches: {s: , t: }", "e.yaml:1: hosts.a: a is linked to none of s and t"),
        ("file: e.yaml", "hosts:\n  'a[1-3]': {count: 4}", "e.yaml:2: hosts.a[1-3].count: a[1-3] has 3 hosts, not 4"),
        (
            "file: e.yaml",
            "hosts:\n  'a[1-3]': {}\n  b: {}\nlinks:\n  - {from: a2, to: b}",
            "e.yaml:5: links[0].from: a2 is drawn together with the others of a[1-3]",
        ),
        ("file: none.yaml", "", "paper.yaml:5: part `diagram`: none.yaml: no such file"),
        ("raid: {level: 5, disks: 2}", "", "paper.yaml:5: parts[1].diagram.raid.disks: RAID 5 needs 3 disks at least"),
        ("box: wann", "", "paper.yaml:5: part `diagram`: there is no box `wann`"),
        ("run: b", "", "paper.yaml:5: part `diagram`: the paper has no run `b`"),
        ("frame: aoee", "", "paper.yaml:5: part `diagram`: there is no frame `aoee`"),
        (
            "frame: e.yaml",
            "frame: x\nparts:\n  - {part: p, fields: [{name: a, bits: 8}, {name: b}]}",
            "e.yaml:3: parts[0].fields[1]: b of variable length begins within a row of 32 bits",
        ),
        ("steps: [a, b, a]", "", "paper.yaml:5: parts[1].diagram.steps[2]: the step a comes twice"),
        ("steps: [a]", "", "paper.yaml:5: parts[1].diagram.steps: a workflow is a list of two steps or more"),
        ("design: nfs-gp3, box: wan", "", "paper.yaml:5: parts[1].diagram.box: a diagram has design and box"),
        ("name: x", "", "paper.yaml:5: parts[1].diagram: a diagram has nothing to draw"),
        ("box: wan, set: {a: 1}", "", "paper.yaml:5: parts[1].diagram.set: `set` is for a `design` or a `stack`"),
        ("stack: own-ceph", "", "paper.yaml:5: part `diagram`: design own-ceph: CloudFormation cannot build it"),
    ],
    ids=lambda value: value if value[-5:] != ".yaml" else None,
)
def test_what_is_wrong_has_its_line(tmp_path: Path, part: str, text: str, error: str) -> None:
    with pytest.raises(AssayError) as raised:
        paper(tmp_path, f"  - diagram: {{{part}}}\n", e=text)
    assert error in raised.value.message and "\n" not in raised.value.message and raised.value.exit_code == 2
