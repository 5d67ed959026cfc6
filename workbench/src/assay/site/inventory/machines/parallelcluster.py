"""Machines of a cluster of AWS ParallelCluster 3, as `pcluster describe-cluster-instances` lists them.

Source: docs.aws.amazon.com/parallelcluster, "describeClusterInstances" and "describeCluster".
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from assay.model.base import EXIT_REFUSED, AssayError
from assay.site.inventory.foreign import ReportLine
from assay.site.inventory.machines.machine import CLIENT, LOGIN, CloudMachine, refuse_first_page

START_HINT = "start compute nodes: set MinCount of a queue, or hold some with `salloc -N 4` on the head node"


def is_instances(document: Mapping[str, Any]) -> bool:
    """Whether a document lists the instances of a cluster."""
    listed = document.get("instances")
    return isinstance(listed, list) and all(isinstance(item, dict) and "nodeType" in item for item in listed)


def is_cluster(document: Mapping[str, Any]) -> bool:
    """Whether a document describes a cluster: its head node, without the compute nodes."""
    return "clusterName" in document and "headNode" in document


def read_instances(document: Mapping[str, Any], report: ReportLine) -> list[CloudMachine]:
    """Return the compute nodes that run, by their queues, and the hosts through which they are reached.

    Raises:
        AssayError: No compute node runs.
    """
    refuse_first_page(document.get("nextToken"))
    running = [item for item in document["instances"] if item.get("state", "running") == "running"]
    waiting = len(document["instances"]) - len(running)
    if waiting:
        report(f"note: {waiting} {'instance' if waiting == 1 else 'instances'} not running, left out")
    queues: Counter[str] = Counter()
    machines = [_machine(item, queues) for item in running]
    if not any(item.role == CLIENT for item in machines):
        raise AssayError("no compute node of the cluster runs", START_HINT, EXIT_REFUSED)
    return machines


def read_cluster(document: Mapping[str, Any], _report: ReportLine) -> list[CloudMachine]:
    """Refuse a description of a cluster, which has no compute nodes.

    Raises:
        AssayError: Always.
    """
    name = document["clusterName"]
    message = "describes the cluster, and not its compute nodes"
    raise AssayError(message, f"store what `pcluster describe-cluster-instances -n {name}` prints")


def _machine(item: Mapping[str, Any], queues: Counter[str]) -> CloudMachine:
    kind = str(item["nodeType"]).lower()
    public, private = str(item.get("publicIpAddress") or ""), str(item.get("privateIpAddress") or "")
    if kind == "computenode":
        queue = str(item.get("queueName") or "compute")
        queues[queue] += 1
        return CloudMachine(f"{queue}-{queues[queue]}", (queue, "compute"), public, private, role=CLIENT)
    name = "head" if kind == "headnode" else str(item.get("poolName") or "login")
    return CloudMachine(name, (name,), public, private, role=LOGIN)
