#!/usr/bin/env python3
"""Write the table of AWS instance types that Assay ships, from what AWS answered to DescribeInstanceTypes.

The package moto carries those answers (Apache-2.0; the development requirements pin its version). Run it after that
version has changed: `.venv/bin/python tools/aws_instances.py`.
"""

import csv
import gzip
import importlib.metadata
import importlib.util
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "workbench/src/assay/money/cost/catalog_data/instances-aws.csv"
COLUMNS = (
    *("name", "vcpus", "memory_mib", "disks", "network_baseline_gbps", "network_burst_gbps", "network_words"),
    *("ebs_baseline_mbps", "ebs_burst_mbps", "ebs_baseline_iops", "ebs_burst_iops", "note"),
)
D2 = (
    "AWS's data say 2048 GB for each disk; the NFS paper of 2016 has 2 TB, and its RAID 0 of 3, 6, 12 and 24 disks "
    "was 5.5, 11, 22 and 44 TiB large, which are 2 TB (10^12 bytes) each, not 2048 GB"
)
BASELINES = {
    "i7ie.48xlarge": 100,
    "i7ie.metal-48xl": 100,
    "i8g.metal-48xl": 90,
    "i8ge.48xlarge": 180,
    "i8ge.metal-48xl": 180,
}
"""Gbit/s that AWS's page of network bandwidths states where its answers say more.

Source: aws/karpenter-provider-aws pkg/providers/instancetype/zz_generated.bandwidth.go, commit 1d92708 of 2026-08-21.
"""
LOWER = "AWS's data say {:g} Gbit/s for the network; its page of bandwidths says what is here"
OPTIONAL = "the rates to volumes hold if EBS optimization is switched on, which had its own price"
SHARED = "volumes share the network of the instance"


def answers() -> dict[str, dict[str, Any]]:
    """Instance type -> AWS's answer."""
    spec = importlib.util.find_spec("moto")
    if spec is None or spec.origin is None:
        sys.exit("the package moto is not installed: run `make setup-test-all`")
    path = Path(spec.origin).parent / "ec2/resources/instance_types.json.gz"
    found: dict[str, dict[str, Any]] = json.loads(gzip.decompress(path.read_bytes()))
    return found


def row(name: str, facts: dict[str, Any]) -> list[object]:
    """A line of the table; sizes of disks in GB of 10^9 bytes, the network of all cards together."""
    network, store, ebs = facts["NetworkInfo"], facts.get("InstanceStorageInfo", {}), facts["EbsInfo"]
    limits = ebs.get("EbsOptimizedInfo") or {}
    nvme = store.get("NvmeSupport") == "required"
    d2 = name.startswith("d2.")
    disks = []
    for disk in store.get("Disks", []):
        kind = "nvme" if disk["Type"] == "ssd" and nvme else disk["Type"]
        disks.append(f"{disk['Count']}x{2000 if d2 else disk['SizeInGB']}GB:{kind}")
    notes = [D2] if d2 else []
    cards, most = network["NetworkCards"], stated(network["NetworkPerformance"])
    baseline, burst = (total(cards, f"{kind}BandwidthInGbps", most) for kind in ("Baseline", "Peak"))
    if name in BASELINES:
        notes.append(LOWER.format(baseline))
        baseline = float(BASELINES[name])
    notes += [SHARED] if not limits else [OPTIONAL] if ebs.get("EbsOptimizedSupport") == "supported" else []
    return [
        *(name, facts["VCpuInfo"]["DefaultVCpus"], facts["MemoryInfo"]["SizeInMiB"], " ".join(disks)),
        *(baseline, burst, network["NetworkPerformance"]),
        *(limits.get(f"{kind}{what}", "") for what in ("BandwidthInMbps", "Iops") for kind in ("Baseline", "Maximum")),
        "; ".join(notes),
    ]


def total(cards: list[dict[str, Any]], key: str, most: float) -> float | str:
    """The sum over network cards, at most what the instance has, all of which each card may state.

    Empty if one states none. AWS's words are rounded, so that up to 1 % more than they say is as they say.
    """
    rates = [card.get(key) for card in cards]
    known = [rate for rate in rates if rate is not None]
    if not known or len(known) < len(rates):
        return ""
    return most if sum(known) > 1.01 * most else sum(known)


def stated(words: str) -> float:
    """Gbit/s of all cards in AWS's words, such as `4x 100 Gigabit`; infinite if they are no number, such as `High`."""
    found = re.search(r"(?:(\d+)x )?(?:Up to )?([\d.]+) Gigabit", words)
    return int(found[1] or 1) * float(found[2]) if found else math.inf


def main() -> None:
    with TABLE.open("w", newline="") as file:
        file.write(f"# AWS DescribeInstanceTypes, as packaged in moto {importlib.metadata.version('moto')}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(row(name, facts) for name, facts in sorted(answers().items()))


if __name__ == "__main__":
    main()
