"""Does half a minute say what ten minutes say? One long `assay measure` of two places, then ten short ones beside it.

    python bench/short_against_long.py /var/tmp /dev/shm [--tries 10] [--long 10m]

A short number agrees if it is within 10 % of the long one. If it is not, it must have said so: what is printed beside
it, how far it is sure, must reach to within 10 % of the long number.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NEAR = 0.10
Key = tuple[str, str, str]


def measured(places: list[str], length: str, folder: Path) -> tuple[float, dict[Key, dict[str, Any]]]:
    """Seconds that it took, and the results by target, operation and point."""
    begin = time.monotonic()
    words = [sys.executable, "-m", "assay", "measure", *places, "--time", length, "--out", str(folder), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    seconds = time.monotonic() - begin
    return seconds, {(one["case"], one["label"], one["operation"]): one for one in json.loads(done.stdout)["results"]}


def judge(short: dict[str, Any], long: dict[str, Any]) -> str:
    """`near`, `unsure` if it is not and its interval says so, or `wrong`."""
    rate, truth = short["bytes_per_s"], long["bytes_per_s"]
    if rate is None or truth is None:
        return "wrong"
    if abs(rate / truth - 1) <= NEAR:
        return "near"
    sure = short["simultaneous_within"]
    reaches = sure is None or (rate * (1 - sure) <= truth * (1 + NEAR) and rate * (1 + sure) >= truth * (1 - NEAR))
    return "unsure" if reaches else "wrong"


def main() -> int:
    """Exit code 1 if more than one try of ten has a wrong number."""
    parser = argparse.ArgumentParser()
    parser.add_argument("places", nargs="+")
    parser.add_argument("--tries", type=int, default=10)
    parser.add_argument("--long", default="10m")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        took, long = measured(asked.places, asked.long, folder)
        print(f"long: {took:.0f} s, {len(long)} numbers", flush=True)
        bad = 0
        for number in range(1, asked.tries + 1):
            took, short = measured(asked.places, "30s", folder)
            found = {key: judge(one, long[key]) for key, one in short.items()}
            counts = {word: list(found.values()).count(word) for word in ("near", "unsure", "wrong")}
            wrong = [" ".join(key[1:]) for key, word in found.items() if word == "wrong"]
            bad += bool(wrong)
            print(f"try {number}: {took:.1f} s, {counts}{f'; wrong: {wrong}' if wrong else ''}", flush=True)
    print(f"{asked.tries - bad} of {asked.tries} tries have no number that is wrong and sounds sure")
    return int(10 * bad > asked.tries)


if __name__ == "__main__":
    sys.exit(main())
