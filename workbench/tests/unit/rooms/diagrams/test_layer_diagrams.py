"""Targets of a run with the layers below them: equal disks as one box, servers below what is mounted from them."""

from typing import Any

import pytest
from drawn import faults
from sample_run import sample_run

from assay.model.base import AssayError
from assay.model.result.layers import Layer, LayerKind
from assay.model.result.run import RunInfo, TargetPlace
from assay.report.draw.diagram import BoxShape, TextShape
from assay.rooms.diagrams.work.layers import run_diagram


def layer(kind: LayerKind, name: str, depth: int, detail: str = "") -> Layer:
    return Layer(kind=kind, name=name, detail=detail, depth=depth)


def run_of(**facts: Any) -> RunInfo:
    usual = {"memory_backed": False, "direct_bypasses_cache": True, "free_bytes": None, "device": None}
    place = TargetPlace(**{"target": "t", "kind": "file", "path": "/data", "filesystem": "xfs", **usual, **facts})
    return sample_run().run.model_copy(update={"places": (place,)})


def test_equal_disks_of_an_array_are_one_box() -> None:
    disks = [layer("disk", f"/dev/sd{letter}", 2, "2 TB") for letter in "abcdefgh"]
    run = run_of(layers=(layer("file system", "xfs", 0), layer("array", "/dev/md0", 1, "raid6"), *disks))
    diagram = run_diagram(run)
    texts = [shape.text for shape in diagram.shapes if isinstance(shape, TextShape)]
    assert {"/dev/sda … /dev/sdh", "× 8", "/dev/md0", "raid6", "target t"} <= set(texts) and "/dev/sdb" not in texts
    assert faults(diagram) == [] and "/dev/sdb (2 TB)" in diagram.words


def test_layers_that_differ_are_side_by_side() -> None:
    run = run_of(
        layers=(
            layer("mapped", "/dev/dm-0", 0),
            layer("partition", "/dev/vda1", 1),
            layer("disk", "/dev/vda", 2),
            layer("loop", "/dev/loop0", 1),
            layer("memory", "tmpfs", 2),
        )
    )
    diagram = run_diagram(run)
    tops = {shape.text: shape.y for shape in diagram.shapes if isinstance(shape, TextShape)}
    assert tops["/dev/vda1"] == tops["/dev/loop0"] < tops["/dev/vda"] and faults(diagram) == []


def test_servers_are_dashed_below_what_is_mounted_from_them() -> None:
    run = run_of(filesystem="nfs4", servers=("nfs1", "nfs2"), layers=(layer("network", "nfs4", 0),))
    diagram = run_diagram(run)
    (box,) = (shape for shape in diagram.shapes if isinstance(shape, BoxShape) and shape.look == "outside")
    (name,) = (shape for shape in diagram.shapes if isinstance(shape, TextShape) and shape.text == "nfs2")
    assert box.y < name.y < box.y + box.height
    assert diagram.words.endswith("served by nfs1 and nfs2. Servers are dashed: what is below them was not seen.")


def test_a_run_without_targets_and_one_too_wide_are_refused() -> None:
    with pytest.raises(AssayError, match="has no description of its targets"):
        run_diagram(sample_run().run.model_copy(update={"places": ()}))
    many = [layer("disk", f"/dev/sd{number}", 1, f"model {number}") for number in range(9)]
    with pytest.raises(AssayError, match="target t has more layers side by side than fit on a page"):
        run_diagram(run_of(layers=(layer("array", "/dev/md0", 0), *many)))
