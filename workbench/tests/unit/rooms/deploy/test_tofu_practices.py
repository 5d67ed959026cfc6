"""What somebody who uses Terraform with Azure and Google checks in a review, one small check each."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from provider_schemas import schema
from tofu_documents import AZURE, GOOGLE, WRITTEN, bodies, document

from assay.model.base import AssayError
from assay.rooms.deploy.commands.template import text_of
from assay.rooms.deploy.work.roles.scripts import check_values
from assay.rooms.deploy.work.templates.plan import HostOptions

SERVER_DESIGNS = ("nfs-azure-disks", "nfs-gcp-hyperdisk")
MACHINES = {"azurerm_linux_virtual_machine", "google_compute_instance"}


def machines(name: str) -> dict[str, Any]:
    return {label: body for kind, label, body in bodies(document(name)) if kind in MACHINES}


@pytest.mark.parametrize("name", WRITTEN)
def test_releases_are_bounded_and_no_credentials_are_named(name: str) -> None:
    content = document(name)
    assert re.fullmatch(
        r">= \d+\.\d+\.0, < \d+\.0\.0", next(iter(content["terraform"]["required_providers"].values()))["version"]
    )
    text = json.dumps(content).lower()
    assert not re.search(r"client_secret|password\W+: \"|access_key\"|private_key|credentials", text)


@pytest.mark.parametrize("name", WRITTEN)
def test_variables_are_described_typed_and_only_few_are_required(name: str) -> None:
    variables = document(name)["variable"]
    required = {key for key, each in variables.items() if "default" not in each}
    assert required - {"project"} == {"run_name", "owner", "expiry_time", "ssh_public_key"}
    assert all(each["description"].endswith(".") and each["type"] for each in variables.values())
    free = {key for key, each in variables.items() if each["type"] in ("string", "number") and "validation" not in each}
    named = {"subscription_id", "kms_key_name"}
    assert free <= named, "other variables say which values they take"


@pytest.mark.parametrize("name", AZURE)
def test_all_that_takes_tags_has_them(name: str) -> None:
    for kind, label, body in bodies(document(name)):
        if "tags" in schema("azurerm-5.10.0")[kind]["arguments"]:
            assert "local.tags" in str(body.get("tags")), f"{kind}.{label}"
    assert set(document(name)["locals"]["tags"]) == {"assay-run", "assay-owner", "assay-expires"}


@pytest.mark.parametrize("name", GOOGLE)
def test_labels_are_of_the_provider(name: str) -> None:
    assert document(name)["provider"]["google"]["default_labels"] == "${local.labels}"
    assert set(document(name)["locals"]["labels"]) == {"assay-run", "assay-owner", "assay-expires"}


@pytest.mark.parametrize("name", SERVER_DESIGNS)
def test_servers_never_have_public_addresses_and_others_if_asked(name: str) -> None:
    content = document(name)
    assert content["variable"]["assign_public_address"]["default"] is False
    assert "storage" not in content["resource"].get("azurerm_public_ip", {})
    assert "access_config" not in json.dumps(machines(name)["storage"])
    reachable = content["resource"].get("azurerm_public_ip", {}).get("client") or machines(name)["client"]
    assert "var.assign_public_address" in json.dumps(reachable)


@pytest.mark.parametrize("name", WRITTEN)
def test_nothing_is_open_to_everyone(name: str) -> None:
    content = document(name)
    for kind, label, body in bodies(content):
        if kind == "google_compute_firewall" and body.get("direction") != "EGRESS":
            assert body.get("source_tags") or body["source_ranges"] == ["${var.login_cidr}"], label
        if kind == "azurerm_network_security_rule" and (body["direction"], body["access"]) == ("Inbound", "Allow"):
            source = body.get("source_application_security_group_ids") or body["source_address_prefix"]
            assert label == "members" or source == "${var.login_cidr}", label
        assert "security_rule" not in body, "in JSON, it would need each argument"
    assert content["variable"]["login_cidr"]["default"] == ""


def test_disks_of_azure_state_what_they_are() -> None:
    content = document("nfs-azure-disks")["resource"]
    disk = content["azurerm_managed_disk"]["storage"]
    assert disk["storage_account_type"] == "PremiumV2_LRS"
    assert (disk["disk_iops_read_write"], disk["disk_mbps_read_write"]) == (
        "${var.volume_iops}",
        "${var.volume_throughput}",
    )
    assert content["azurerm_virtual_machine_data_disk_attachment"]["storage"]["caching"] == "None"
    assert disk["zone"] == machines("nfs-azure-disks")["storage"]["zone"] == "${local.zone}"


@pytest.mark.parametrize("name", SERVER_DESIGNS)
def test_the_design_sets_the_disks(name: str) -> None:
    values = {key: each.get("default") for key, each in document(name)["variable"].items()}
    disks = [values[f"volume_{key}"] for key in ("count", "size", "iops", "throughput")]
    # 10 TB on four disks are 2,328.3 GiB each.
    assert disks == [4, 2329, 4000, 500]
    assert values["pool_layout"] == "raid0"


def test_a_disk_without_stated_rates_has_none(tmp_path: Path) -> None:
    text = Path("src/assay/money/cost/templates/azure/nfs-azure-disks.yaml").read_text()
    text = text.replace("premium-ssd-v2", "premium-ssd-p30").replace("value: 10TB", "value: 4TiB")
    own = re.sub(r", iops: \$iops, throughput: \$throughput", "", text)
    own = "\n".join(line for line in own.splitlines() if not line.startswith(("  iops:", "  throughput:")))
    (tmp_path / "own.yaml").write_text(own)
    content = json.loads(text_of(str(tmp_path / "own.yaml"), [], "", HostOptions()))
    disk = content["resource"]["azurerm_managed_disk"]["storage"]
    assert disk["storage_account_type"] == "Premium_LRS"
    assert not {"disk_iops_read_write", "disk_mbps_read_write"} & set(disk)
    assert "volume_iops" not in content["variable"]


def test_local_disks_need_no_volumes(tmp_path: Path) -> None:
    text = Path("src/assay/money/cost/templates/gcp/nfs-gcp-hyperdisk.yaml").read_text()
    head = text[: text.index("parameters:")] + "servers:\n"
    tail = "  - {role: storage, instance: c3-standard-44-lssd, local: {layout: raid0}}\n"
    (tmp_path / "own.yaml").write_text(head + tail + text[text.index("durability:") :])
    content = json.loads(text_of(str(tmp_path / "own.yaml"), [], "", HostOptions()))
    assert "google_compute_disk" not in content["resource"]
    assert "POOL=${var.pool_layout}" in content["locals"]["storage_user_data"]
    assert "POOL_DISK_COUNT" not in content["locals"]["storage_user_data"]


@pytest.mark.parametrize("name", SERVER_DESIGNS)
def test_servers_and_clients_are_placed_together(name: str) -> None:
    for label in ("storage", "client"):
        body = machines(name)[label]
        assert "run" in str(body.get("proximity_placement_group_id", body.get("resource_policies"))), label
    assert document(name)["variable"]["use_placement_group"]["default"] is True


@pytest.mark.parametrize("name", [name for name in WRITTEN if WRITTEN[name].login])
def test_a_login_host_is_placed_nowhere_and_never_spot(name: str) -> None:
    login = machines(name)["login"]
    assert not {"proximity_placement_group_id", "resource_policies", "priority"} & set(login)
    assert "provisioning_model" not in login.get("scheduling", {})
    assert "var.assign_public_address" not in json.dumps(machines(name)["client"])


def test_spot_of_azure_has_a_highest_price_and_of_google_none() -> None:
    client = machines("nfs-azure-disks")["client"]
    assert client["max_bid_price"] == "${var.spot_max_price}"
    assert document("nfs-azure-disks")["variable"]["spot_max_price"]["default"] is None
    schedule = machines("nfs-gcp-hyperdisk")["client"]["scheduling"]
    assert schedule["automatic_restart"] == "${!(var.spot || var.use_placement_group)}"
    assert schedule["on_host_maintenance"] == '${var.spot || var.use_placement_group ? "TERMINATE" : "MIGRATE"}'


@pytest.mark.parametrize("name", WRITTEN)
def test_user_data_is_cloud_config_with_values_that_roles_take(name: str) -> None:
    content = document(name)
    example = {"var.nfsd_threads": "64", "var.volume_count": "4", "var.mpi": "none", "local.allowed": "10.0.0.0/8"}
    example |= {"var.pool_layout": "raid0", "var.disk_file_system": "xfs", "local.mount": "10.42.16.4:/export"}
    for role in ("storage", "client"):
        text = content["locals"].get(f"{role}_user_data")
        if text is None:
            continue
        config = yaml.safe_load(text)
        assert text.startswith("#cloud-config\n")
        assert config["hostname"] == "ASSAY_HOST_NAME"
        script, env = config["write_files"][1], config["write_files"][0]["content"]
        values = dict(line.split("=", 1) for line in env.splitlines())
        filled = {key: re.sub(r"\$\{(.*?)\}", lambda found: example[found[1]], each) for key, each in values.items()}
        filled["HOST_NAME"] = "lab1-host1"
        check_values("nfs-server" if role == "storage" else "nfs-client", filled)
        assert script["encoding"] == "gz+b64"
        assert len(text) < 48_000
        assert role in json.dumps(machines(name)[role])


@pytest.mark.parametrize("name", WRITTEN)
def test_logins_take_keys_only(name: str) -> None:
    for body in machines(name).values():
        if "metadata" in body:
            assert body["metadata"]["block-project-ssh-keys"] == "TRUE"
            assert body["shielded_instance_config"]["enable_secure_boot"] is True
            assert "service_account" not in body
        else:
            assert body["disable_password_authentication"] is True
            assert body["secure_boot_enabled"] == "${var.trusted_launch}"


def test_a_share_of_azure_is_reached_by_its_private_endpoint_only() -> None:
    content = document("azure-files")["resource"]
    account = content["azurerm_storage_account"]["files"]
    assert account["public_network_access_enabled"] is False
    assert account["https_traffic_only_enabled"] is False, "NFS does not work with secure transfer"
    assert (account["account_kind"], account["account_tier"]) == ("FileStorage", "Premium")
    assert content["azurerm_private_endpoint"]["files"]["subnet_id"] == "${local.subnet_id}"


def test_a_regional_filestore_is_in_the_region() -> None:
    zonal, regional = (
        document(name)["resource"]["google_filestore_instance"]["run"]
        for name in ("gcp-filestore", "gcp-filestore-regional")
    )
    assert (zonal["tier"], zonal["location"]) == ("ZONAL", "${var.zone}")
    assert (regional["tier"], regional["location"]) == ("REGIONAL", "${var.region}")


@pytest.mark.parametrize("name", WRITTEN)
def test_an_existing_network_is_used_as_it_is(name: str) -> None:
    content = document(name)
    owned = {"azurerm_virtual_network", "azurerm_subnet", "azurerm_nat_gateway", "google_compute_network"}
    owned |= {"google_compute_subnetwork", "google_compute_router", "google_compute_router_nat"}
    for kind, label, body in bodies(content):
        if kind in owned:
            assert re.fullmatch(r'\$\{var\.subnet(_id|work) == "" \? 1 : 0\}', body["count"]), f"{kind}.{label}"


@pytest.mark.parametrize("name", WRITTEN)
def test_it_is_said_that_nothing_ends_by_itself(name: str) -> None:
    content = document(name)
    assert any("Nothing of it ends by itself" in line for line in content["//"])
    assert "nothing deletes them by itself" in content["variable"]["expiry_time"]["description"]
    assert not re.search(r'deletion_protection(_enabled)?": true|prevent_destroy', json.dumps(content))


REFUSED = {
    "azure-files-v2": "cannot set rate and IOPS",
    "azure-files-hdd": "has no NFS",
    "azure-blob": "no template for blob",
    "azure-managed-lustre": "no template for managed-lustre",
    "gcp-filestore:type=filestore-basic-hdd": "NFS 3 only",
    "gcp-netapp-volumes": "no template for netapp-volumes",
    "gcs": "no template for gcs",
    "direct-azure-disks": "no template for direct",
}


@pytest.mark.parametrize("design", REFUSED)
def test_what_cannot_be_built_is_refused(design: str) -> None:
    with pytest.raises(AssayError) as raised:
        text_of(design, [], "", HostOptions())
    assert REFUSED[design] in raised.value.what
    assert raised.value.hint
