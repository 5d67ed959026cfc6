"""Recompute the answer of a run from its export: `assay export RUN --format json`, then `python recompute.py FILE`."""

import json
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
        low, high, ahead = pair["sure_low"], pair["sure_high"], point["winner"] == decision["other"]
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
