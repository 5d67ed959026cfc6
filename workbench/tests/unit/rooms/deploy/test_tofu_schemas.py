"""Documents for Azure and Google against the schemas of the providers' oldest and newest known releases."""

import copy
import re
from typing import Any

import pytest
from provider_schemas import VERSIONS, faults
from tofu_documents import WRITTEN, document


def _releases(content: dict[str, Any]) -> list[str]:
    """The known releases that a document's own bounds allow."""
    ((provider, bounds),) = content["terraform"]["required_providers"].items()
    least, below = (tuple(map(int, each.split("."))) for each in re.findall(r"[\d.]+", bounds["version"]))
    named = [version for version in VERSIONS if version.startswith(provider)]
    return [each for each in named if least <= tuple(map(int, each.partition("-")[2].split("."))) < below]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_document_has_what_its_provider_takes(name: str) -> None:
    content = document(name)
    releases = _releases(content)
    assert VERSIONS[1] in releases or VERSIONS[3] in releases
    assert [fault for release in releases for fault in faults(content, release)] == []


def test_a_volume_of_netapp_needs_the_fifth_release() -> None:
    content = document("azure-netapp-files:type=azure-netapp-files-flexible")
    assert _releases(content) == ["azurerm-5.10.0"]
    assert list(faults(content, "azurerm-4.55.0")) == ["azurerm_netapp_volume has no attribute mount_target"]


HARM: dict[str, tuple[str, Any, str]] = {
    "unknown argument": ("azurerm_managed_disk", {"iops": 3000}, "no argument iops"),
    "missing argument": ("azurerm_managed_disk", {"create_option": None}, "create_option is required"),
    "wrong type": ("azurerm_linux_virtual_machine", {"vtpm_enabled": "yes"}, "'yes' is no boolean"),
    "unknown in a block": ("azurerm_linux_virtual_machine", {"os_disk": {"size": 1}}, "os_disk: no argument size"),
    "unknown attribute": ("azurerm_managed_disk", {"name": "${azurerm_subnet.hosts[0].cidr}"}, "no attribute cidr"),
    "unknown resource": ("azurerm_managed_disk", {"name": "${azurerm_subnet.data.id}"}, "azurerm_subnet.data"),
}


@pytest.mark.parametrize("harm", HARM)
def test_the_check_finds(harm: str) -> None:
    kind, changes, words = HARM[harm]
    content = copy.deepcopy(document("nfs-azure-disks"))
    body = content["resource"][kind]["storage"]
    body |= changes
    content["resource"][kind]["storage"] = {key: value for key, value in body.items() if value is not None}
    assert any(words in fault for fault in faults(content, "azurerm-5.10.0"))


@pytest.mark.parametrize("name", WRITTEN)
def test_variables_and_locals_are_all_there_and_used(name: str) -> None:
    content = document(name)
    text = str({key: each for key, each in content.items() if key != "variable"})
    assert set(re.findall(r"\bvar\.(\w+)", text)) == set(content["variable"])
    assert set(re.findall(r"\blocal\.(\w+)", text)) == set(content["locals"])
