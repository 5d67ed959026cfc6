"""Recompute the answer of a run from its export: `assay export RUN --format json`, then `python recompute.py FILE`."""

import json
import math
import re
import statistics
import sys
from pathlib import Path

NO_RESULT = {"cached", "impossible", "incomplete"}
run = json.loads(Path(sys.argv[1]).read_text())
pairs = {(p["workload"], p["operation"], p["base"], p["other"], str(p["axes"])): p for p in run["comparisons"]}
for decision in run["decisions"]:
    key = decision["workload"], decision["operation"], decision["base"], decision["other"]
    for point in decision["points"]:
        pair = pairs[*key, str(point["axes"])]
        low, high, ahead = pair["simultaneous_low"], pair["simultaneous_high"], point["winner"] == decision["other"]
        if point["outcome"] == "faster":
            bound = low if ahead else 1 / high
            assert pair["separable"] and 1 < point["at_least"] <= bound, (key, point)
            assert abs(point["ratio"] / (pair["ratio"] if ahead else 1 / pair["ratio"]) - 1) < 1e-9
        elif point["outcome"] == "equal":
            assert point["within"] == max(1 - low, 1 - 1 / high)
        elif point["outcome"] == "barred" and not point["why"].startswith("the study sets the rate"):
            assert NO_RESULT & set(pair["caveat"].replace(" and ", " ").split()), (key, point)

KINDS = {f"{again}{name}": f"sequential {name}" for name in ("write", "read") for again in ("", "re")}
kinds = {}
for decision in run["decisions"]:
    name = KINDS.get(decision["operation"], decision["operation"].replace("_", " "))
    kinds.setdefault((name, decision["base"], decision["other"]), []).extend(decision["points"])
for (kind, base, other), points in kinds.items():
    counted = [point for point in points if point["outcome"] != "barred"]
    print(f"{kind}, {base} and {other}: {len(counted)} of {len(points)} points count")
    for target in (other, base):
        won = [point for point in counted if point["winner"] == target]
        if won:
            least, middle = min(p["at_least"] for p in won), statistics.median(p["ratio"] for p in won)
            print(f"  {target} faster at {len(won)}, at least {least:.4g}x, {middle:.4g}x in the median")
    for outcome in ("equal", "open"):
        print(f"  {outcome} at {sum(point['outcome'] == outcome for point in counted)}")

# Every number that the first page says of who is faster, of medians, and of verdicts.
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
PART = re.compile(r"(?P<axis>[a-z ]+?) (?P<end>up to |from )?(?P<value>[\d.,]+)(?: (?P<unit>[KMGT]?i?B))?(?: on)?$")
FASTER = re.compile(r"^(\S+) faster(?: in ([\d,]+) of ([\d,]+))?: (?:typically )?([\d.,]+)×, at least ([\d.,]+)×")
COLUMNS = {"MB/s": ("throughput_median_bytes_per_s", 1e6), "IOPS": ("iops_median_per_s", 1)}
COLUMNS["operations/s"] = COLUMNS["IOPS"]


def number(text):
    """A number as it is written for people."""
    return float(text.replace(",", ""))


def close(said, found):
    """A bound is rounded towards less, to two digits or three."""
    return said <= found * (1 + 1e-9) and said >= found * 0.9


def points_of(label, base, other):
    """The points that a line speaks of: of a kind of work, or of a part of it."""
    name, *where = re.sub(r" \(.*?\)", "", label).split(", ")[:-1]
    found = [p for p in kinds.get((name.lower(), base, other), ()) if p["outcome"] != "barred"]
    part = PART.match(where[0]) if where else None
    if part is None:
        return found
    axis, value = part["axis"].replace(" ", "_"), number(part["value"]) * UNITS.get(part["unit"] or "B", 1)
    if part["end"] == "up to ":
        return [p for p in found if p["axes"][axis] <= value]
    return [p for p in found if (p["axes"][axis] >= value if part["end"] else p["axes"][axis] == value)]


page, checked = run["first_page"], 0
for line in page["lines"]:
    for said in line["text"].split("; "):
        if faster := FASTER.search(said):
            pair = next(key[1:] for key in kinds if faster[1] in key[1:] and set(key[1:]) <= set(line["values"]))
            points = points_of(line["label"], *pair)
            won = [p for p in points if p["winner"] == faster[1]]
            assert (number(faster[2]) if faster[2] else len(points)) == len(won), (line, len(won), len(points))
            assert not faster[3] or number(faster[3]) == len(points), line
            assert abs(number(faster[4]) / statistics.median(p["ratio"] for p in won) - 1) < 0.05, line
            assert close(number(faster[5]), min(p["at_least"] for p in won)), line
            checked += 1
results = run["results"]
won = {}
for key, points in kinds.items():
    for point in points:
        if point["winner"]:
            won.setdefault((*key, point["winner"]), []).append(point["at_least"])
for said in re.findall(r"at least ([\d.,]+)×", page["answer"]):
    assert any(close(number(said), min(bounds)) for bounds in won.values()), page["answer"]
    checked += 1
for line in page["lines"]:
    column, scale = COLUMNS[line["label"].rsplit(", ", 1)[1]]
    for name, said in line["values"].items():
        median = re.match(r"(?:at least )?([\d.,]+)(?: to (?:at least )?([\d.,]+)$)?", said)
        mine = [r for r in results if name in (r["target"], "Measured")]
        found = [r[column] / scale for r in mine if r.get(column) is not None]
        if median and found:
            low, high = number(median[1]), number(median[2] or median[1])
            assert all(any(abs(end / each - 1) < 0.006 for each in found) for end in (low, high)), (line, name)
            checked += 1
for caveat in page["caveats"]:
    ends = [p["outcome"] for points in kinds.values() for p in points]
    for pattern, found in (
        (r"([\d,]+) of ([\d,]+) results? (?:is|are) unstable", sum("unstable: " in r["findings"] for r in results)),
        (r"([\d,]+) of ([\d,]+) comparisons? (?:is|are) undecided", ends.count("open")),
        (r"([\d,]+) of ([\d,]+) comparisons? could not be made", ends.count("barred")),
    ):
        if match := re.match(pattern, caveat["text"]):
            assert number(match[1]) == found, (caveat, found)
            checked += 1
decided = [p["outcome"] in ("faster", "equal") for v in kinds.values() for p in v if p["outcome"] != "barred"]
share = 100 * sum(decided) / len(decided) if decided else math.nan
print(f"first page: {checked} statements follow; {sum(decided)} of {len(decided)} points ({share:.0f} %) are decided")
