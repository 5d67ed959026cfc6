"""Network and hosts of a document for Azure."""

from typing import Any

from assay.rooms.deploy.model.stack_plan import HostGroup, StackPlan
from assay.rooms.deploy.work.tofu.boots import user_data
from assay.rooms.deploy.work.tofu.document import TofuDocument, Values, matches
from assay.rooms.deploy.work.tofu.variables import OWN_HOSTS, OWN_RANGE

VERSIONS = ">= 4.55.0, < 6.0.0"
"""Releases of the provider; documents are checked against the schemas of the first and of 5.10.0."""
OWN = '${var.subnet_id == "" ? 1 : 0}'
TAGS = "${local.tags}"
ROOT_GIB = 32
PREMIUM_V2 = "PremiumV2_LRS"
DISK_TYPES = {
    "premium-ssd-v2": PREMIUM_V2,
    **{f"premium-ssd-p{size}": "Premium_LRS" for size in (30, 40, 50, 60, 70)},
    **{f"standard-hdd-s{size}": "Standard_LRS" for size in (30, 40, 50, 60, 70)},
}
"""Type of the catalogue -> SKU of managed disks."""


def group(**more: Any) -> Values:
    """Return where a resource is, and its tags."""
    return {
        "resource_group_name": "${azurerm_resource_group.run.name}",
        "location": "${azurerm_resource_group.run.location}",
        **more,
        "tags": TAGS,
    }


def add_variables(document: TofuDocument, region: str) -> None:
    """Add place, image and options that only Azure has, and the resource group."""
    document.settings = {"features": {}, "subscription_id": "${var.subscription_id}"}
    about = "Subscription. Null: that of the environment variable ARM_SUBSCRIPTION_ID or of the Azure CLI."
    document.variable("subscription_id", about, None)
    document.variable(
        "location", "Region, such as eastus.", region, check=matches("location", "^[a-z0-9]+$"), words=REGION
    )
    document.variable(
        "zone",
        "Availability zone of the hosts and their disks. Empty: none, for regions without zones.",
        "1",
        check='contains(["", "1", "2", "3"], var.zone)',
        words="1, 2, 3, or empty",
    )
    document.variable(
        "subnet_id",
        "Id of an existing subnet, from which hosts reach the internet. Empty: a network of its own, with a NAT "
        "gateway, which is charged by the hour.",
        "",
        check='var.subnet_id == "" || can(regex("/subnets/[^/]+$", var.subnet_id))',
        words="the resource id of a subnet, or empty",
    )
    document.values["zone"] = '${var.zone == "" ? null : var.zone}'
    document.values["zones"] = '${var.zone == "" ? null : [var.zone]}'
    names = {"assay-run": "${var.run_name}", "assay-owner": "${var.owner}", "assay-expires": "${var.expiry_time}"}
    document.values["tags"] = names
    body = {"name": "${var.run_name}", "location": "${var.location}", "tags": TAGS}
    document.resource("azurerm_resource_group", "run", **body)


REGION = "the name of a region, such as eastus"


def add_host_variables(document: TofuDocument, plan: StackPlan) -> None:
    """Add image, placement, encryption and spot prices."""
    offer, sku = ("debian-12", "12-gen2") if plan.architecture == "amd64" else ("debian-12", "12-arm64")
    document.variable(
        "image",
        "Image of all hosts, with cloud-init and apt or dnf. Another one replaces hosts.",
        {"publisher": "Debian", "offer": offer, "sku": sku, "version": "latest"},
        "object({ publisher = string, offer = string, sku = string, version = string })",
    )
    about = "Whether hosts have Secure Boot and a virtual TPM; the image and the types must be able to."
    document.variable("trusted_launch", about, True, "bool")
    document.variable(
        "encryption_at_host",
        "Whether caches and temporary disks are encrypted, too; the subscription must have Microsoft.Compute/"
        "EncryptionAtHost. Disks are encrypted in any case.",
        False,
        "bool",
    )
    about = "Whether servers and clients are placed near one another, in a proximity placement group."
    document.variable("use_placement_group", about, True, "bool")
    _add_spot(document, "spot_max_price", "clients, which are deleted when evicted")
    if plan.group("storage"):
        _add_spot(document, "storage_spot_max_price", "storage hosts, which are stopped when evicted")


def _add_spot(document: TofuDocument, name: str, hosts: str) -> None:
    document.variable(
        name,
        f"Highest price in USD an hour for {hosts}, as spot. -1: up to the usual price. Null: no spot.",
        None,
        "number",
        f"var.{name} == null ? true : (var.{name} == -1 || var.{name} > 0)",
        "a price above 0, -1, or null",
    )


def add_network(document: TofuDocument) -> None:
    """Add the own network, unless a subnet is given: hosts reach the internet through its NAT gateway only."""
    document.values["subnet_id"] = '${var.subnet_id == "" ? one(azurerm_subnet.hosts[*].id) : var.subnet_id}'
    address = group(name="${var.run_name}", address_space=[OWN_RANGE], count=OWN)
    document.resource("azurerm_virtual_network", "run", **address)
    add_subnet(document, "hosts", OWN_HOSTS)
    public = {"allocation_method": "Static", "sku": "Standard", "zones": "${local.zones}"}
    document.resource("azurerm_public_ip", "nat", **group(name="${var.run_name}-nat", count=OWN, **public))
    nat = {"sku_name": "Standard", "zones": "${local.zones}"}
    document.resource("azurerm_nat_gateway", "run", **group(name="${var.run_name}", count=OWN, **nat))
    gateway = {"count": OWN, "nat_gateway_id": "${azurerm_nat_gateway.run[0].id}"}
    association = {**gateway, "public_ip_address_id": "${azurerm_public_ip.nat[0].id}"}
    document.resource("azurerm_nat_gateway_public_ip_association", "run", **association)
    association = {**gateway, "subnet_id": "${azurerm_subnet.hosts[0].id}"}
    document.resource("azurerm_subnet_nat_gateway_association", "hosts", **association)


def add_subnet(document: TofuDocument, name: str, addresses: str, count: str = OWN, **more: Any) -> None:
    """Add a subnet of the own network."""
    document.resource(
        "azurerm_subnet",
        name,
        count=count,
        name=name,
        resource_group_name="${azurerm_resource_group.run.name}",
        virtual_network_name="${azurerm_virtual_network.run[0].name}",
        address_prefixes=[addresses],
        default_outbound_access_enabled=False,
        **more,
    )


def add_security(document: TofuDocument) -> None:
    """Add the groups of hosts, and rules that let in members and, if asked for, ssh; nothing else.

    Rules are resources of their own: inside the group, JSON would have to state each of their arguments.
    """
    for name in ("hosts", "login"):
        body = group(name=f"${{var.run_name}}-{name}")
        document.resource("azurerm_application_security_group", name, **body)
    document.resource("azurerm_network_security_group", "hosts", **group(name="${var.run_name}-hosts"))
    hosts = {"application_security_group_ids": ["${azurerm_application_security_group.hosts.id}"]}
    login = {"application_security_group_ids": ["${azurerm_application_security_group.login.id}"]}
    anywhere, internet = {"address_prefix": "*"}, {"address_prefix": "Internet"}
    inside, outside = ("Inbound", "Outbound")
    _add_rule(document, "members", "All between hosts of the run", (110, inside, "Allow"), hosts, hosts)
    _add_rule(document, "others", "Nothing from anywhere else", (4000, inside, "Deny"), anywhere, anywhere)
    about = "Packages and services over HTTP and HTTPS"
    _add_rule(document, "packages", about, (100, outside, "Allow"), hosts, internet, ["80", "443"])
    _add_rule(document, "internet", "Nothing else in the internet", (4000, outside, "Deny"), hosts, internet)
    stated = {"address_prefix": "${var.login_cidr}"}
    _add_rule(document, "ssh", "ssh from the stated addresses", (100, inside, "Allow"), stated, login, ["22"])
    document.resources["azurerm_network_security_rule"]["ssh"]["count"] = '${var.login_cidr == "" ? 0 : 1}'


def _add_rule(
    document: TofuDocument,
    name: str,
    about: str,
    kind: tuple[int, str, str],
    source: Values,
    destination: Values,
    ports: list[str] | None = None,
) -> None:
    """Add a rule; `kind` is its priority, direction and access, `ports` those of TCP."""
    priority, direction, access = kind
    document.resource(
        "azurerm_network_security_rule",
        name,
        name=name,
        resource_group_name="${azurerm_resource_group.run.name}",
        network_security_group_name="${azurerm_network_security_group.hosts.name}",
        description=about,
        priority=priority,
        direction=direction,
        access=access,
        protocol="Tcp" if ports else "*",
        source_port_range="*",
        **({"destination_port_ranges": ports} if ports else {"destination_port_range": "*"}),
        **{f"source_{key}": each for key, each in source.items()},
        **{f"destination_{key}": each for key, each in destination.items()},
    )


def add_placement(document: TofuDocument) -> None:
    """Add the proximity placement group."""
    count = "${var.use_placement_group ? 1 : 0}"
    body = group(name="${var.run_name}", count=count)
    document.resource("azurerm_proximity_placement_group", "run", **body)


def add_hosts(document: TofuDocument, plan: StackPlan) -> None:
    """Add all hosts with their interfaces and disks."""
    for each in plan.groups:
        names = f'[for number in range({each.count}) : "${{var.run_name}}-{each.role}${{number + 1}}"]'
        document.values[f"{each.role}_hosts"] = f"${{toset({names})}}"
        spot = _spot("storage_spot_max_price", "Deallocate") if each.role == "storage" else {}
        _add_group(document, each.role, spot, is_reachable=False)
        if each.volumes is not None:
            _add_disks(document, each)
    names = '[for number in range(var.client_count) : "${var.run_name}-client${number + 1}"]'
    document.values["client_hosts"] = f"${{toset({names})}}"
    _add_group(document, "client", _spot("spot_max_price", "Delete"), is_reachable=not plan.login_instance)
    if plan.login_instance:
        document.values["login_hosts"] = '${toset(["${var.run_name}-login"])}'
        _add_group(document, "login", {}, is_reachable=True)


def _spot(variable: str, eviction: str) -> Values:
    return {
        "priority": f'${{var.{variable} == null ? "Regular" : "Spot"}}',
        "eviction_policy": f'${{var.{variable} == null ? null : "{eviction}"}}',
        "max_bid_price": f"${{var.{variable}}}",
    }


def _add_group(document: TofuDocument, role: str, spot: Values, is_reachable: bool) -> None:
    hosts = {"for_each": f"${{local.{role}_hosts}}"}
    name = "${each.key}"
    address: Values = {
        "name": "first",
        "subnet_id": "${local.subnet_id}",
        "private_ip_address_allocation": "Dynamic",
    }
    if is_reachable:
        asked = f"${{var.assign_public_address ? local.{role}_hosts : toset([])}}"
        public = {"allocation_method": "Static", "sku": "Standard", "zones": "${local.zones}"}
        document.resource("azurerm_public_ip", role, for_each=asked, **group(name=name, **public))
        public_id = f"azurerm_public_ip.{role}[each.key].id"
        address["public_ip_address_id"] = f"${{var.assign_public_address ? {public_id} : null}}"
    card = {"accelerated_networking_enabled": True, "ip_configuration": address}
    document.resource("azurerm_network_interface", role, **hosts, **group(name=name, **card))
    card_id = {**hosts, "network_interface_id": f"${{azurerm_network_interface.{role}[each.key].id}}"}
    rules = "${azurerm_network_security_group.hosts.id}"
    kind = "azurerm_network_interface_security_group_association"
    document.resource(kind, role, **card_id, network_security_group_id=rules)
    kind = "azurerm_network_interface_application_security_group_association"
    for member in ("hosts", "login") if is_reachable else ("hosts",):
        place = role if member == "hosts" else f"{role}_ssh"
        own = f"${{azurerm_application_security_group.{member}.id}}"
        document.resource(kind, place, **card_id, application_security_group_id=own)
    document.resource("azurerm_linux_virtual_machine", role, **hosts, **_machine(role, spot))


def _machine(role: str, spot: Values) -> Values:
    placed = "${var.use_placement_group ? azurerm_proximity_placement_group.run[0].id : null}"
    waits = [f"azurerm_network_interface_security_group_association.{role}"]
    waits.append(f"azurerm_network_interface_application_security_group_association.{role}")
    waits.append("azurerm_network_security_rule.packages")
    body = group(
        name="${each.key}",
        computer_name="${each.key}",
        size=f"${{var.{role}_instance_type}}",
        zone="${local.zone}",
        admin_username="${var.login_user}",
        admin_ssh_key=[{"username": "${var.login_user}", "public_key": "${var.ssh_public_key}"}],
        disable_password_authentication=True,
        network_interface_ids=[f"${{azurerm_network_interface.{role}[each.key].id}}"],
        custom_data=f"${{base64encode({user_data(role)})}}",
        os_disk={
            "caching": "ReadWrite",
            "storage_account_type": "Premium_LRS",
            "disk_size_gb": ROOT_GIB,
        },
        source_image_reference={key: f"${{var.image.{key}}}" for key in ("publisher", "offer", "sku", "version")},
        secure_boot_enabled="${var.trusted_launch}",
        vtpm_enabled="${var.trusted_launch}",
        encryption_at_host_enabled="${var.encryption_at_host}",
        boot_diagnostics={},
        **({} if role == "login" else {"proximity_placement_group_id": placed}),
        **spot,
    )
    # Packages are installed at first boot: the way to the internet must be there before a host is.
    ways = ["azurerm_nat_gateway_public_ip_association.run", "azurerm_subnet_nat_gateway_association.hosts"]
    return {**body, "tags": f'${{merge(local.tags, {{ "assay-role" = "{role}" }})}}', "depends_on": waits + ways}


def _add_disks(document: TofuDocument, servers: HostGroup) -> None:
    """Add the data disks of servers; they are attached after the first boot has begun, which waits for them."""
    assert servers.volumes is not None
    role, kind = servers.role, DISK_TYPES[servers.volumes.type]
    pairs = f"setproduct(local.{role}_hosts, range(var.volume_count))"
    disk = '"${pair[0]}-disk${pair[1]}" => { host = pair[0], lun = tonumber(pair[1]) }'
    document.values[f"{role}_disks"] = f"${{ {{ for pair in {pairs} : {disk} }} }}"
    every = {"for_each": f"${{local.{role}_disks}}"}
    rates: Values = {}
    if kind == PREMIUM_V2:
        rates = {"disk_iops_read_write": "${var.volume_iops}", "disk_mbps_read_write": "${var.volume_throughput}"}
    body = group(
        name="${each.key}",
        zone="${local.zone}",
        storage_account_type=kind,
        create_option="Empty",
        disk_size_gb="${var.volume_size}",
        public_network_access_enabled=False,
        network_access_policy="DenyAll",
        **rates,
    )
    document.resource("azurerm_managed_disk", role, **every, **body)
    document.resource(
        "azurerm_virtual_machine_data_disk_attachment",
        role,
        **every,
        managed_disk_id=f"${{azurerm_managed_disk.{role}[each.key].id}}",
        virtual_machine_id=f"${{azurerm_linux_virtual_machine.{role}[each.value.host].id}}",
        lun="${each.value.lun}",
        caching="None",
    )


def addresses(plan: StackPlan) -> dict[str, str]:
    """Return the expressions of the outputs with addresses."""
    found: dict[str, str] = {
        each.role: f"[for host in azurerm_linux_virtual_machine.{each.role} : host.private_ip_address]"
        for each in plan.groups
    }
    fields = "private_ip = host.private_ip_address, public_ip = host.public_ip_address"
    machine = "azurerm_linux_virtual_machine"
    found["clients"] = f"{{ for name, host in {machine}.client : name => {{ {fields} }} }}"
    login = f"one(values({machine}.login))"
    found["login_address"] = f"var.assign_public_address ? {login}.public_ip_address : {login}.private_ip_address"
    return found


MAIN_ADDRESS = 'azurerm_network_interface.storage["${var.run_name}-storage1"].private_ip_address'
"""Expression of the first storage host's address, which is known before the host is made."""
