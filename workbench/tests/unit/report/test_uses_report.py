"""What hosts did meanwhile, in the report: a line for each, and lines over time."""

from builders import make_analysis, make_case, make_sample, row_of

from assay.model.result.host_use import DiskUse, HostUse, HostUsePoint, LinkUse
from assay.report.build import build_document
from assay.report.html import render_html


def use(host: str, shared: bool) -> HostUse:
    link = LinkUse(name="eth0", received=119e6, sent=1e6, received_peak=120e6, sent_peak=1e6, drops=0, speed=125e6)
    disk = DiskUse(name="loop3", busy=0.42, busy_peak=0.5, read=0.0, written=1e6, queue=1.5)
    other = DiskUse(name="vda", busy=0.77, busy_peak=0.8, read=0.0, written=1e6, queue=2.5)
    course = tuple(HostUsePoint(at=number / 2, cpu=0.5, received=119e6, sent=0.0, disk=0.4) for number in range(6))
    return HostUse(
        host=host,
        shared=shared,
        seconds=3.0,
        cpu=0.61,
        cpu_peak=0.7,
        cpus=2,
        links=(link,),
        disks=(disk, other),
        segments=1000,
        segments_again=7,
        softnet_drops=0,
        course=course,
    )


def text(shared: bool) -> str:
    case = make_case("c0001", "store")
    row = row_of(case, [100e6] * 3)
    uses = (use("client1", shared), use("server1", shared))
    row = row.model_copy(update={"samples": tuple(make_sample("c0001", n, 100e6, uses=uses) for n in (1, 2, 3))})
    run = make_analysis().model_copy(update={"cases": (case,), "rows": (row,), "comparisons": (), "decisions": ()})
    return render_html(build_document(run))


def test_each_host_has_a_line_with_its_link_disk_and_losses() -> None:
    page = text(shared=False)
    for words in ("host-uses", "server1", "eth0, received", "95 %", "61 %", "server1 CPUs", "server1 busiest disk"):
        assert words in page, words
    assert "all, this machine" not in page


def test_what_hosts_share_stands_once() -> None:
    page = text(shared=True)
    assert page.count("all, this machine") == 1
    assert "loop3" in page and "42 %" in page
    assert "server1 CPUs" not in page and "server1 link" in page
