"""Network and hosts of a document for Google Cloud."""

from typing import Any

from assay.rooms.deploy.model.stack_plan import HostGroup, StackPlan
from assay.rooms.deploy.work.tofu.boots import user_data
from assay.rooms.deploy.work.tofu.document import TofuDocument, Values, matches
from assay.rooms.deploy.work.tofu.variables import OWN_HOSTS, TYPES_WITH_RATES

VERSIONS = ">= 6.50.0, < 9.0.0"
"""Releases of the provider; documents are checked against the schemas of the first and of 8.7.0."""
OWN = '${var.subnetwork == "" ? 1 : 0}'
ROOT_GIB = 20
PRIVATE_RANGES = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]
OUTSIDE = ["0.0.0.0/0"]
PLACED = "var.use_placement_group"


def add_variables(document: TofuDocument, region: str) -> None:
    """Add place and existing network, and the labels of all resources."""
    document.settings = {
        "project": "${var.project}",
        "region": "${var.region}",
        "zone": "${var.zone}",
        "default_labels": "${local.labels}",
    }
    project = "^[a-z][a-z0-9-]{4,28}[a-z0-9]$"
    about = "Id of the project, in which the API of Compute Engine is enabled."
    document.variable("project", about, check=matches("project", project), words="the id of a project")
    place = "^[a-z]+-[a-z]+[0-9]+$"
    document.variable(
        "region", "Region, such as us-central1.", region, check=matches("region", place), words="a region"
    )
    document.variable(
        "zone",
        "Zone of the hosts and their disks, in that region.",
        f"{region}-b",
        check=matches("zone", "^[a-z]+-[a-z]+[0-9]+-[a-z]$"),
        words="a zone such as us-central1-b",
    )
    document.variable(
        "subnetwork",
        "Name of an existing subnetwork of the region, from which hosts reach the internet. Empty: a network of its "
        "own, with Cloud NAT, which is charged by the hour.",
        "",
        check=matches("subnetwork", "^(|[a-z]([a-z0-9-]{0,61}[a-z0-9])?)$"),
        words="the name of a subnetwork, or empty",
    )
    about = "Largest packet in the own network, in bytes; hosts of large types are faster with 8896."
    whole = "var.mtu >= 1300 && var.mtu <= 8896 && floor(var.mtu) == var.mtu"
    document.variable("mtu", about, 1460, "number", whole, "a whole number from 1300 to 8896")
    # Values of labels have lower-case letters, digits, hyphens and underscores only.
    document.values["labels"] = {
        "assay-run": "${var.run_name}",
        "assay-owner": '${replace(lower(var.owner), "/[^a-z0-9_-]/", "-")}',
        "assay-expires": '${lower(replace(var.expiry_time, ":", "-"))}',
    }


def add_host_variables(document: TofuDocument, plan: StackPlan) -> None:
    """Add image, boot disk, placement and spot."""
    family = f"ubuntu-2404-lts-{plan.architecture}"
    about = (
        "Image of all hosts, or its family, with cloud-init and apt or dnf; Google's images of Debian have no "
        "cloud-init. Another one replaces hosts."
    )
    form = "^[a-z0-9._/:-]+$"
    document.variable(
        "image", about, f"ubuntu-os-cloud/{family}", check=matches("image", form), words="PROJECT/FAMILY or a path"
    )
    about = "Type of boot disks that all types of hosts take: pd-balanced, or hyperdisk-balanced for newer ones."
    known = 'contains(["pd-balanced", "pd-ssd", "hyperdisk-balanced"], var.boot_disk_type)'
    words = "one of: pd-balanced, pd-ssd, hyperdisk-balanced"
    document.variable("boot_disk_type", about, "pd-balanced", check=known, words=words)
    about = "Whether servers and clients are placed near one another, by a compact placement policy; not for E2."
    document.variable("use_placement_group", about, True, "bool")
    about = "Whether clients are Spot VMs, which Google sells at its own price: there is no highest one to state."
    document.variable("spot", about, False, "bool")
    if plan.group("storage"):
        about = "Whether storage hosts are Spot VMs, too; they are stopped when preempted."
        document.variable("storage_spot", about, False, "bool")


def add_network(document: TofuDocument) -> None:
    """Add the own network, unless a subnetwork is given, and rules that let in members and, if asked for, ssh."""
    name = "${var.run_name}"
    document.resource(
        "google_compute_network", "run", count=OWN, name=name, auto_create_subnetworks=False, mtu="${var.mtu}"
    )
    network = "${google_compute_network.run[0].id}"
    document.resource(
        "google_compute_subnetwork",
        "hosts",
        count=OWN,
        name=name,
        network=network,
        ip_cidr_range=OWN_HOSTS,
        private_ip_google_access=True,
    )
    document.resource("google_compute_router", "run", count=OWN, name=name, network=network)
    document.resource(
        "google_compute_router_nat",
        "run",
        count=OWN,
        name=name,
        router="${google_compute_router.run[0].name}",
        nat_ip_allocate_option="AUTO_ONLY",
        source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
    )
    existing = '${var.subnetwork == "" ? 0 : 1}'
    document.data["google_compute_subnetwork"] = {"existing": {"count": existing, "name": "${var.subnetwork}"}}
    own, found = "google_compute_subnetwork.hosts[0]", "data.google_compute_subnetwork.existing[0]"
    document.values["subnetwork"] = f'${{var.subnetwork == "" ? {own}.self_link : {found}.self_link}}'
    document.values["network"] = f'${{var.subnetwork == "" ? {own}.network : {found}.network}}'
    _add_firewall(document)


def _add_firewall(document: TofuDocument) -> None:
    members = "${var.run_name}"
    everything = [{"protocol": "all"}]
    web = [{"protocol": "tcp", "ports": ["80", "443"]}]

    def rule(name: str, about: str, **body: Any) -> None:
        named = {"name": f"${{var.run_name}}-{name}", "description": about, "network": "${local.network}"}
        document.resource("google_compute_firewall", name, **named, **body)

    rule("members", "All between hosts of the run", allow=everything, source_tags=[members], target_tags=[members])
    rule(
        "ssh",
        "ssh from the stated addresses",
        count='${var.login_cidr == "" ? 0 : 1}',
        allow=[{"protocol": "tcp", "ports": ["22"]}],
        source_ranges=["${var.login_cidr}"],
        target_tags=["${var.run_name}-login"],
    )
    out: Values = {"direction": "EGRESS", "target_tags": [members]}
    rule("private", "Private addresses", **out, allow=everything, destination_ranges=PRIVATE_RANGES)
    rule("packages", "Packages and services over HTTP and HTTPS", **out, allow=web, destination_ranges=OUTSIDE)
    rule("internet", "Nothing else outside", **out, priority=65000, deny=everything, destination_ranges=OUTSIDE)


def add_placement(document: TofuDocument) -> None:
    """Add the compact placement policy."""
    document.resource(
        "google_compute_resource_policy",
        "run",
        count=f"${{{PLACED} ? 1 : 0}}",
        name="${var.run_name}",
        group_placement_policy={"collocation": "COLLOCATED"},
    )


def add_hosts(document: TofuDocument, plan: StackPlan) -> None:
    """Add all hosts with their disks."""
    for each in plan.groups:
        names = f'[for number in range({each.count}) : "${{var.run_name}}-{each.role}${{number + 1}}"]'
        document.values[f"{each.role}_hosts"] = f"${{toset({names})}}"
        disks = _add_disks(document, each) if each.volumes else {}
        spot = "var.storage_spot" if each.role == "storage" else "false"
        _add_machines(document, each.role, spot, "STOP", is_reachable=False, **disks)
    names = '[for number in range(var.client_count) : "${var.run_name}-client${number + 1}"]'
    document.values["client_hosts"] = f"${{toset({names})}}"
    _add_machines(document, "client", "var.spot", "DELETE", is_reachable=not plan.login_instance)
    if plan.login_instance:
        document.values["login_hosts"] = '${toset(["${var.run_name}-login"])}'
        _add_machines(document, "login", "false", "STOP", is_reachable=True)


def _add_disks(document: TofuDocument, servers: HostGroup) -> Values:
    """Add the data disks of servers; return the blocks that attach them."""
    assert servers.volumes is not None
    role, kind = servers.role, servers.volumes.type
    pairs = f"setproduct(local.{role}_hosts, range(var.volume_count))"
    names = f'[for pair in {pairs} : "${{pair[0]}}-disk${{pair[1]}}"]'
    rates: Values = {}
    if kind in TYPES_WITH_RATES:
        rates = {"provisioned_iops": "${var.volume_iops}", "provisioned_throughput": "${var.volume_throughput}"}
    document.resource(
        "google_compute_disk",
        role,
        for_each=f"${{toset({names})}}",
        name="${each.key}",
        type=kind,
        size="${var.volume_size}",
        labels={"assay-role": role},
        **rates,
    )
    disk = f'google_compute_disk.{role}["${{each.key}}-disk${{attached_disk.value}}"]'
    content = {"source": f"${{{disk}.self_link}}", "device_name": "data${attached_disk.value}"}
    return {"dynamic": {"attached_disk": {"for_each": "${range(var.volume_count)}", "content": content}}}


def _add_machines(
    document: TofuDocument, role: str, spot: str, at_preemption: str, *, is_reachable: bool, **disks: Any
) -> None:
    card: Values = {"subnetwork": "${local.subnetwork}", "nic_type": "GVNIC"}
    if is_reachable:
        asked = "${var.assign_public_address ? [true] : []}"
        card["dynamic"] = {"access_config": {"for_each": asked, "content": {}}}
    tags = ["${var.run_name}"] + (["${var.run_name}-login"] if is_reachable else [])
    placed = "false" if role == "login" else PLACED
    policies = {} if role == "login" else {"resource_policies": "${google_compute_resource_policy.run[*].self_link}"}
    # The image is looked up once: a newer one of its family replaces no host.
    disk = {"image": "${var.image}", "type": "${var.boot_disk_type}", "size": ROOT_GIB, "labels": "${local.labels}"}
    document.resource(
        "google_compute_instance",
        role,
        for_each=f"${{local.{role}_hosts}}",
        name="${each.key}",
        machine_type=f"${{var.{role}_instance_type}}",
        tags=tags,
        labels={"assay-role": role},
        boot_disk={"auto_delete": True, "initialize_params": disk},
        network_interface=[card],
        metadata={
            "user-data": f"${{{user_data(role)}}}",
            "ssh-keys": "${var.login_user}:${var.ssh_public_key}",
            "enable-oslogin": "FALSE",
            "block-project-ssh-keys": "TRUE",
        },
        scheduling=_scheduling(spot, placed, at_preemption),
        shielded_instance_config={
            "enable_secure_boot": True,
            "enable_vtpm": True,
            "enable_integrity_monitoring": True,
        },
        allow_stopping_for_update=True,
        **policies,
        **disks,
        depends_on=["google_compute_router_nat.run", "google_compute_firewall.packages"],
    )


def _scheduling(spot: str, placed: str, at_preemption: str) -> Values:
    """Return how hosts are treated: Spot VMs and those placed together cannot be moved while they run."""
    if spot == placed == "false":
        return {"on_host_maintenance": "MIGRATE", "automatic_restart": True}
    stays = placed if spot == "false" else f"{spot} || {placed}"
    body: Values = {
        "on_host_maintenance": f'${{{stays} ? "TERMINATE" : "MIGRATE"}}',
        "automatic_restart": f"${{!({stays})}}",
    }
    if spot != "false":
        body |= {
            "provisioning_model": f'${{{spot} ? "SPOT" : "STANDARD"}}',
            "preemptible": f"${{{spot}}}",
            "instance_termination_action": f'${{{spot} ? "{at_preemption}" : null}}',
        }
    return body


def addresses(plan: StackPlan) -> dict[str, str]:
    """Return the expressions of the outputs with addresses."""
    machine, card = "google_compute_instance", "host.network_interface[0]"
    found: dict[str, str] = {
        each.role: f"[for host in {machine}.{each.role} : {card}.network_ip]" for each in plan.groups
    }
    fields = f"private_ip = {card}.network_ip, public_ip = one({card}.access_config[*].nat_ip)"
    found["clients"] = f"{{ for name, host in {machine}.client : name => {{ {fields} }} }}"
    login = f"one(values({machine}.login)).network_interface[0]"
    found["login_address"] = f"var.assign_public_address ? {login}.access_config[0].nat_ip : {login}.network_ip"
    return found


MAIN_ADDRESS = 'google_compute_instance.storage["${var.run_name}-storage1"].network_interface[0].network_ip'
"""Expression of the first storage host's address."""
