"""Leased lines of designs as documents: Direct Connect for CloudFormation, ExpressRoute for OpenTofu."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from provider_schemas import faults

from assay.model.base import AssayError
from assay.rooms.deploy.commands.template import text_of
from assay.rooms.deploy.work.links.direct_connect import EXAMPLES
from assay.rooms.deploy.work.templates.plan import HostOptions


class _Loader(yaml.SafeLoader):
    """Reads functions as plain values."""


_Loader.add_multi_constructor("!", lambda loader, tag, node: (tag, getattr(node, "value", None)))


def written(design: str) -> str:
    return text_of(design, [], "", HostOptions())


def connect(design: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(written(design), _Loader)
    return found


def test_direct_connect_has_a_connection_for_each_line_and_their_price() -> None:
    document = connect("s3-leased-link:lines=2")
    kinds = [each["Type"] for each in document["Resources"].values()]
    assert kinds == ["AWS::DirectConnect::Connection"] * 2 + ["AWS::DirectConnect::PublicVirtualInterface"]
    # 2.25 USD an hour, 730 hours, two ports.
    assert "3,285.00 USD a month for 2 x direct-connect-10g" in document["Description"]
    assert document["Parameters"]["Bandwidth"]["Default"] == "10Gbps"
    assert "3,285.00" in document["Outputs"]["PriceMonth"]["Value"]


def test_the_interface_comes_by_an_update_with_addresses_of_ones_own() -> None:
    document = connect("s3-leased-link")
    assert document["Parameters"]["CreateInterface"]["Default"] == "no"
    assert document["Resources"]["PublicInterface"]["Condition"] == "AddInterface"
    assert len(document["Rules"]["InterfaceIsWhole"]["Assertions"]) == len(EXAMPLES) == 3


def test_a_rate_that_is_hosted_only_is_refused(tmp_path: Path) -> None:
    text = Path("src/assay/money/cost/templates/s3-leased-link.yaml").read_text()
    text = text.replace('"direct-connect-${gigabits}g"', "direct-connect-hosted-25g").replace(
        '"${gigabits}Gb/s"', "25Gb/s"
    )
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(AssayError) as raised:
        written(str(tmp_path / "own.yaml"))
    assert "no dedicated connection of 25 Gbit/s" in raised.value.what


@pytest.mark.parametrize(
    ("circuit", "megabits", "price"), [("50m", 50, "55.00"), ("1g", 1000, "436.00"), ("10g", 10_000, "3,400.00")]
)
def test_express_route_has_a_circuit_and_its_price(circuit: str, megabits: int, price: str) -> None:
    document = json.loads(written(f"azure-blob-leased-link:circuit={circuit}"))
    assert [*faults(document, "azurerm-4.55.0"), *faults(document, "azurerm-5.10.0")] == []
    assert document["variable"]["bandwidth_in_mbps"]["default"] == megabits
    assert f"{price} USD a month" in document["output"]["price_month"]["value"]
    assert "UltraPerformance: 1,365.10 USD a month" in document["variable"]["gateway_sku"]["description"]


def test_what_is_charged_besides_is_there_only_if_asked() -> None:
    document = json.loads(written("azure-blob-leased-link"))
    resources = document["resource"]
    assert resources["azurerm_virtual_network_gateway"]["run"]["count"] == '${var.gateway_subnet_id == "" ? 0 : 1}'
    assert "var.is_provisioned" in resources["azurerm_virtual_network_gateway_connection"]["run"]["count"]
    assert document["output"]["service_keys"]["sensitive"] is True
