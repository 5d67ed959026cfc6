"""`assay deploy template`: what it prints, where it writes, and what it refuses."""

from pathlib import Path

import pytest
from in_process import run_here

from assay.model.base import EXIT_USAGE


def test_template_goes_to_standard_output_or_a_file(tmp_path: Path) -> None:
    done = run_here(tmp_path, "deploy", "template", "nfs-gp3:volumes=8", "--capacity", "40TB", "--clients", "3")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("AWSTemplateFormatVersion: '2010-09-09'\n")
    assert '"values": {"volumes": 8, "capacity": "40TB"}' in done.stdout and "\t" not in done.stdout
    written = run_here(tmp_path, "deploy", "template", "nfs-aws-2016", "-o", "stack.yaml")
    assert written.returncode == 0 and written.stdout == ""
    assert "SUBNETID:" in (tmp_path / "stack.yaml").read_text()


def test_design_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(
        "design: ours\nfamily: glusterfs\naccess: [file]\nprovider: aws\ndurability: host\nfailure_domain: a server\n"
        "servers:\n  - {role: storage, instance: i4i.2xlarge, count: 3, local: {layout: raid0}}\n"
        "  - {role: client, instance: c6in.xlarge, count: 5}\n"
    )
    done = run_here(tmp_path, "deploy", "template", "ours.yaml")
    assert done.returncode == 0, done.stderr
    assert (
        "Storage3Interface:" in done.stdout
        and "!Sub ${Storage1Interface.PrimaryPrivateIpAddress}:/assay" in done.stdout
    )
    count = done.stdout.partition("  ClientCount:\n")[2]
    assert "Default: 5" in count.partition("MinValue")[0]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("nothing", "nothing"),
        ("nfs-gp3 --set disks=4", "disks"),
        ("nfs-gp3 --capacity lots", "--capacity"),
        ("nfs-gp3 --clients 5000", "'--clients'"),
        ("nfs-gp3 --client-instance big", "big"),
        ("nfs-aws-2016 --login m6a.large", "nfs-aws-2016 is a whole template"),
        ("nfs-instance-store --capacity 900TB", "cannot hold 900TB"),
        ("nfs-instance-store:instance=d3.2xlarge --capacity 5TB", "instance is set"),
        ("nfs-gp3 --attach", "cannot join"),
        ("s3-express", "of another kind"),
        ("own-ceph", "CloudFormation cannot build it"),
        ("nfs-azure-disks --attach", "cannot join"),
        ("nfs-gcp-hyperdisk --client-instance m5.large", "m5.large is a type of another cloud"),
        ("nfs-gp3 --login Standard_D4s_v5", "Standard_D4s_v5 is a type of another cloud"),
        ("azure-blob", "no template for blob"),
        ("s3-leased-link --clients 4", "have no hosts"),
    ],
)
def test_refused(tmp_path: Path, words: str, says: str) -> None:
    done = run_here(tmp_path, "deploy", "template", *words.split())
    assert done.returncode == EXIT_USAGE and done.stdout == ""
    assert says in done.stderr and "Traceback" not in done.stderr and "bug" not in done.stderr
