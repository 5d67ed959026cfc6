"""Sets of host names: what Slurm makes of them, and how many there may be."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import times

from assay.model.site.nodes import expand_nodes, read_nodes
from assay.model.units import UnitError

SCONTROL = {
    "nid[001033,001644]": "nid001033 nid001644",
    "ip-0A000104,ip-0A00011E": "ip-0A000104 ip-0A00011E",
    "ip-0A00010[4-6]": "ip-0A000104 ip-0A000105 ip-0A000106",
    "rack[0-1]node[01-02]": "rack0node01 rack0node02 rack1node01 rack1node02",
    "n[1-2][3-4]": "n13 n14 n23 n24",
    "n[1-2]-ib[0-1]": "n1-ib0 n1-ib1 n2-ib0 n2-ib1",
    "node[998-1002]": "node998 node999 node1000 node1001 node1002",
    "node[0998-1000]": "node0998 node0999 node1000",
    "node[001-003,1000]": "node001 node002 node003 node1000",
    "x[09-011]": "x09 x10 x11",
    "n[8-0010]": "n8 n9 n10",
    "n[00-02]": "n00 n01 n02",
    "b,a": "b a",
    "n[1-3,2]": "n1 n2 n3 n2",
    "n[10000000001-10000000003]": "n10000000001 n10000000002 n10000000003",
    "nid[1033-1034],nid[001033]": "nid1033 nid1034 nid001033",
    "ip-0A[00-0,009846,8]": "ip-0A00 ip-0A009846 ip-0A8",
    "rack[41-41,003281]b-[82-83,04]": "rack41b-82 rack41b-83 rack41b-04 rack003281b-82 rack003281b-83 rack003281b-04",
    "[1-2]": "1 2",
}
"""What `scontrol show hostnames` of Slurm 22.05 prints."""


@pytest.mark.parametrize("written", SCONTROL)
def test_a_list_has_the_names_that_slurm_gives_it(written: str) -> None:
    assert read_nodes(written, 100) == SCONTROL[written].split()
    assert expand_nodes(written) == tuple(dict.fromkeys(SCONTROL[written].split()))


def test_names_may_go_on_behind_their_numbers() -> None:
    assert expand_nodes("n[01-02]-ib,gpu[1-2].cluster") == ("n01-ib", "n02-ib", "gpu1.cluster", "gpu2.cluster")


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("n[1-7/3]", "n1 n4 n7"),
        ("n[1-4]!n[2-3]", "n1 n4"),
        ("n[1-4]&n[3-6]", "n3 n4"),
        ("n[1-3]^n[3-4]", "n1 n2 n4"),
        ("a,b!a,c", "b c"),
        ("n[0-9]!n[0-9]", ""),
    ],
)
def test_operations_go_from_left_to_right(written: str, names: str) -> None:
    assert read_nodes(written, 100) == names.split()


@pytest.mark.parametrize(
    "written", ["n[1-", "n]1", "n[]", "n[a]", "n[3-1]", "n[1-2/0]", "n[1,,2]", "!a", "a!", "a!&b", "n[[1]]", "a!,b"]
)
def test_what_cannot_be_read_is_one_error(written: str) -> None:
    with pytest.raises(UnitError, match="is not a set of hosts"):
        expand_nodes(written)


@pytest.mark.parametrize(
    "written", ["n[0-1000000000]", f"n[{10**39}-{10**40}]", "n[1-2000]", "[0-99999][0-99999][0-99999][0-99999]"]
)
def test_the_count_of_names_is_bounded_before_any_is_made(written: str) -> None:
    with pytest.raises(UnitError, match=r"has \d+ hosts"):
        expand_nodes(written)


NUMBERS = st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 3), st.integers(1, 14)), min_size=1, max_size=3)


@settings(max_examples=times(50, 2000))
@given(st.lists(st.tuples(st.sampled_from(["nid", "ip-0A", "x1c0s", "rack7-"]), NUMBERS), min_size=1, max_size=3))
def test_numbers_of_any_width_come_back(lists: list[tuple[str, list[tuple[int, int, int]]]]) -> None:
    written, names = [], []
    for stem, ranges in lists:
        items = [f"{first:0{width}d}-{first + more:0{width}d}" for first, more, width in ranges]
        written.append(f"{stem}[{','.join(items)}]")
        names += [f"{stem}{one:0{width}d}" for first, more, width in ranges for one in range(first, first + more + 1)]
    assert read_nodes(",".join(written), 100) == names
    assert expand_nodes(",".join(names)) == tuple(dict.fromkeys(names))
