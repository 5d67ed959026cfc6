"""What the tools cost by themselves: no storage at all, and the making and checking of data."""

from __future__ import annotations

from model import Contender, Row, at_least, at_most
from peers import assay, bare, fio, ior

NEW = {"tool": "fio-new", "label": "fio null, newest"}


def _nop(depth: int) -> Contender:
    return bare.loop(
        lambda s: ["nop", "--depth", str(depth), "--seconds", str(s.seconds)], f"bare io_uring no-op, depth {depth}"
    )


NULL_1 = Row(
    key="null-1",
    title="No storage, one in flight",
    contenders=[
        _nop(1),
        assay.null(),
        fio.null(label="fio null"),
        fio.null(**NEW),
        fio.null("--gtod_reduce=1", key="fio-reduced", label="fio null, reduced clock"),
        fio.null("--gtod_reduce=1", **NEW | {"key": "fio-new-reduced", "label": "fio null, newest, reduced clock"}),
        ior.dummy(),
    ],
    measures=("cpu_ns", "mops_per_s", "rss_mib"),
    headline=("cpu_ns",),
    goals=[at_most("cpu_ns", 40), at_least("mops_per_s", 25)],
    note="The bare loop does enter the kernel; the others do nothing at all.",
)

NULL_32 = Row(
    key="null-32",
    title="No storage, 32 in flight",
    contenders=[_nop(32), assay.null(32), fio.null("--iodepth=32", label="fio null"), fio.null("--iodepth=32", **NEW)],
    measures=("cpu_ns", "mops_per_s", "rss_mib"),
    headline=("cpu_ns",),
    goals=[at_most("cpu_ns", 40), at_least("mops_per_s", 25)],
    note="The bare loop does enter the kernel; the others do nothing at all.",
)

DATA = Row(
    key="data",
    title="Making and checking unique data, 4 KiB records",
    contenders=[
        bare.loop(lambda s: ["data", "--fill", "--seconds", str(s.seconds)], "Assay, make", "assay"),
        bare.loop(lambda s: ["data", "--check", "--seconds", str(s.seconds)], "Assay, check", "assay-check"),
        fio.null("--refill_buffers", rw="write", key="fio", label="fio null write, refill_buffers"),
        fio.null(
            "--verify=crc32c",
            "--do_verify=0",
            "--verify_state_save=0",
            rw="write",
            key="fio-verify",
            label="fio null write, crc32c",
        ),
    ],
    measures=("gb_per_s", "rss_mib"),
    headline=("gb_per_s",),
    goals=[at_least("gb_per_s", 10), at_least("gb_per_s", 8, contender="assay-check")],
    limit=None,
)

ROWS = [NULL_1, NULL_32, DATA]
