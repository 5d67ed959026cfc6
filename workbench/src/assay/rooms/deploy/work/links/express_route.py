"""A `main.tf.json` for the lines of a design of Azure: ExpressRoute circuits, and a gateway into a network.

A circuit is only ordered by it: the partner provisions it with its service key. What goes through it comes after that.
"""

from typing import Any

from assay.model.money.design import Design
from assay.rooms.deploy.work.links.price import item_text, month_text
from assay.rooms.deploy.work.templates.parameters import CIDR_PATTERN
from assay.rooms.deploy.work.tofu import azure
from assay.rooms.deploy.work.tofu.document import REQUIRED, TofuDocument, matches
from assay.rooms.deploy.work.tofu.variables import choice

GATEWAYS = {
    "Standard": "expressroute-gateway-standard",
    "HighPerformance": "expressroute-gateway-high-performance",
    "UltraPerformance": "expressroute-gateway-ultra-performance",
    "ErGw1AZ": "expressroute-gateway-ergw1az",
    "ErGw2AZ": "expressroute-gateway-ergw2az",
    "ErGw3AZ": "expressroute-gateway-ergw3az",
}
"""SKU of a gateway -> item of price books."""
RATES = (50, 100, 200, 500, 1000, 2000, 5000, 10000)
"""Mbit/s of circuits. Source: learn.microsoft.com/azure/expressroute/expressroute-faqs"""
HAS_GATEWAY = '${var.gateway_subnet_id == "" ? 0 : 1}'
IS_CONNECTED = 'var.is_provisioned && var.gateway_subnet_id != ""'


def express_route_document(design: Design, region: str) -> dict[str, Any]:
    """Return the document for the lines of a design.

    Raises:
        AssayError: The price book has no price of them.
    """
    assert design.link is not None
    price = month_text(design)
    comment = [
        f"ExpressRoute circuits of the design {design.design}: {price}",
        "Made by Assay. tofu apply orders the circuits: they are charged once they have a service key.",
        "Give service_keys to the partner. When the circuits are provisioned, set is_provisioned and apply again.",
    ]
    document = TofuDocument(comment, "azurerm", azure.VERSIONS)
    _add_circuit_variables(document, region, round(design.link.rate * 8 / 1e6))
    _add_gateway_variables(document, design)
    document.values["tags"] = {"assay-run": "${var.run_name}", "assay-owner": "${var.owner}"}
    document.values["circuits"] = _names(design.link.count)
    group = {"name": "${var.run_name}", "location": "${var.location}", "tags": azure.TAGS}
    document.resource("azurerm_resource_group", "run", **group)
    circuit = azure.group(
        for_each="${local.circuits}",
        name="${each.key}",
        service_provider_name="${var.service_provider_name}",
        peering_location="${var.peering_location}",
        bandwidth_in_mbps="${var.bandwidth_in_mbps}",
        sku={"tier": "${var.tier}", "family": "${var.billing}"},
    )
    document.resource("azurerm_express_route_circuit", "line", **circuit)
    _add_gateway(document)
    keys = "{ for name, line in azurerm_express_route_circuit.line : name => line.service_key }"
    about = "Key by which the partner provisions each circuit: tofu output service_keys"
    document.output("service_keys", about, f"${{{keys}}}", is_sensitive=True)
    document.output("price_month", "Price of the circuits", price)
    return document.content()


def _names(count: int) -> str:
    return f'${{toset([for number in range({count}) : "${{var.run_name}}-circuit${{number + 1}}"])}}'


def _add_circuit_variables(document: TofuDocument, region: str, megabits: int) -> None:
    document.settings = {"features": {}, "subscription_id": "${var.subscription_id}"}
    about = "Subscription. Null: that of the environment variable ARM_SUBSCRIPTION_ID or of the Azure CLI."
    document.variable("subscription_id", about, None)
    form = matches("run_name", "^[a-z][a-z0-9-]{0,22}[a-z0-9]$")
    words = "2 to 24 lower-case letters, digits or hyphens, beginning with a letter"
    document.variable("run_name", "Name of the circuits.", REQUIRED, check=form, words=words)
    document.variable("owner", "Person or team that pays. Written on all resources.")
    about = "Region of the resources, which may be another one than the place of the circuit."
    document.variable("location", about, region, check=matches("location", "^[a-z0-9]+$"), words=azure.REGION)
    about = "Partner that provisions the circuit, such as Equinix: az network express-route list-service-providers."
    document.variable("service_provider_name", about)
    document.variable("peering_location", "Place where the partner meets Microsoft, such as Silicon Valley.")
    rates = f"contains({list(RATES)}, var.bandwidth_in_mbps)"
    about = "Mbit/s of each circuit. It can be raised later, not lowered. The price here is that of the default."
    words = f"one of: {', '.join(map(str, RATES))}"
    document.variable("bandwidth_in_mbps", about, megabits, "number", rates, words)
    choice(document, "tier", "Local, Standard, or Premium (other geographies).", "Standard", ("Local", "Premium"))
    about = "MeteredData: each GB that leaves is charged; UnlimitedData: none, at a higher price. It cannot go back."
    choice(document, "billing", about, "MeteredData", ("UnlimitedData",))


def _add_gateway_variables(document: TofuDocument, design: Design) -> None:
    document.variable(
        "gateway_subnet_id",
        "Id of the subnet GatewaySubnet of a network that the first circuit is to reach. Empty: no gateway.",
        "",
        check='var.gateway_subnet_id == "" || can(regex("/subnets/GatewaySubnet$", var.gateway_subnet_id))',
        words="the resource id of a subnet GatewaySubnet, or empty",
    )
    prices = "; ".join(f"{sku}: {item_text(design, item)}" for sku, item in GATEWAYS.items())
    about = f"SKU of the gateway, which costs besides ({prices})."
    choice(document, "gateway_sku", about, "UltraPerformance", tuple(GATEWAYS))
    about = "Whether the partner has provisioned the circuits; only then they can be connected."
    document.variable("is_provisioned", about, False, "bool")
    number = "var.vlan_id >= 1 && var.vlan_id <= 4094"
    document.variable("vlan_id", "Id of the VLAN of the private peering.", 100, "number", number, "from 1 to 4094")
    about = "Number of your autonomous system, of BGP."
    document.variable("peer_asn", about, 65000, "number", "var.peer_asn >= 1", "from 1 on")
    for name in ("primary", "secondary"):
        about = f"Range of four addresses for the {name} line of the peering, such as 192.168.10.16/30."
        default = {"primary": "192.168.10.16/30", "secondary": "192.168.10.20/30"}[name]
        form = matches(f"{name}_range", f"^{CIDR_PATTERN}$")
        document.variable(f"{name}_range", about, default, check=form, words="a range of four addresses")


def _add_gateway(document: TofuDocument) -> None:
    first = 'azurerm_express_route_circuit.line["${var.run_name}-circuit1"]'
    connected = f"${{{IS_CONNECTED} ? 1 : 0}}"
    address = azure.group(name="${var.run_name}-gateway", count=HAS_GATEWAY, allocation_method="Static", sku="Standard")
    document.resource("azurerm_public_ip", "gateway", **address)
    place = {"subnet_id": "${var.gateway_subnet_id}", "public_ip_address_id": "${azurerm_public_ip.gateway[0].id}"}
    gateway = azure.group(
        name="${var.run_name}",
        count=HAS_GATEWAY,
        type="ExpressRoute",
        sku="${var.gateway_sku}",
        ip_configuration=[{"name": "first", **place}],
    )
    document.resource("azurerm_virtual_network_gateway", "run", **gateway)
    document.resource(
        "azurerm_express_route_circuit_peering",
        "private",
        count=connected,
        peering_type="AzurePrivatePeering",
        express_route_circuit_name=f"${{{first}.name}}",
        resource_group_name="${azurerm_resource_group.run.name}",
        vlan_id="${var.vlan_id}",
        peer_asn="${var.peer_asn}",
        primary_peer_address_prefix="${var.primary_range}",
        secondary_peer_address_prefix="${var.secondary_range}",
    )
    connection = azure.group(
        name="${var.run_name}",
        count=connected,
        type="ExpressRoute",
        virtual_network_gateway_id="${azurerm_virtual_network_gateway.run[0].id}",
        express_route_circuit_id=f"${{{first}.id}}",
        depends_on=["azurerm_express_route_circuit_peering.private"],
    )
    document.resource("azurerm_virtual_network_gateway_connection", "run", **connection)
