"""The whole `main.tf.json` of a design of Azure or Google, put together from its parts."""

from collections.abc import Mapping
from typing import Any

from assay.model.base import AssayError
from assay.model.money.design import Design
from assay.rooms.deploy.model.cloud import MB, MIB, CloudRules
from assay.rooms.deploy.model.stack_plan import StackPlan
from assay.rooms.deploy.work.templates.families import FAMILIES
from assay.rooms.deploy.work.tofu import azure, google, variables
from assay.rooms.deploy.work.tofu.boots import add_boots
from assay.rooms.deploy.work.tofu.document import TofuDocument
from assay.rooms.deploy.work.tofu.files import AZURE_SERVICES, GOOGLE_SERVICES, FileService

ENGINE = "OpenTofu"
AZURE = CloudRules(
    providers=("azure",),
    engine=ENGINE,
    families=("nfs",),
    services=AZURE_SERVICES,
    client_instance={"amd64": "Standard_D8s_v5", "arm64": "Standard_D8ps_v6"},
    max_volumes=16,
    rate_unit=MB,
    types=variables.TYPES["azurerm"],
    arm=r"Standard_[A-Z]+[0-9]+(-[0-9]+)?[a-z]*p",
)
GOOGLE = CloudRules(
    providers=("gcp",),
    engine=ENGINE,
    families=("nfs",),
    services=GOOGLE_SERVICES,
    client_instance={"amd64": "c3-standard-8", "arm64": "c4a-standard-8"},
    max_volumes=16,
    rate_unit=MIB,
    types=variables.TYPES["google"],
    arm=r"(t2a|c4a|n4a|a4x)-",
)
CLOUDS: Mapping[str | None, CloudRules] = {"azure": AZURE, "gcp": GOOGLE}
"""Provider of designs -> cloud."""
DISKS: Mapping[str | None, tuple[str, ...]] = {
    "azure": tuple(azure.DISK_TYPES),
    "gcp": ("hyperdisk-balanced", "pd-balanced", "pd-ssd", "pd-standard"),
}
"""Provider -> types of the catalogue of network disks."""
COMMENT = (
    "Made by Assay. Check it, then: tofu init && tofu apply, or with terraform.",
    "What it makes is charged until tofu destroy.",
    "Nothing of it ends by itself: expiry_time is only written on it. All data in it is lost with it.",
)


def build_document(plan: StackPlan, provider: str, region: str) -> dict[str, Any]:
    """Return the document of a plan.

    Args:
        plan: What is built.
        provider: azure or gcp.
        region: Default region.

    Raises:
        AssayError: A disk's type has no counterpart.
    """
    parts: Any = azure if provider == "azure" else google
    document = TofuDocument([plan.about, *COMMENT], "azurerm" if provider == "azure" else "google", parts.VERSIONS)
    _check_disks(plan, provider)
    variables.add_run_variables(document)
    parts.add_variables(document, region)
    variables.add_access_variables(document, plan.has_exports)
    variables.add_host_variables(document, plan)
    parts.add_host_variables(document, plan)
    parts.add_network(document)
    if provider == "azure":
        azure.add_security(document)
    parts.add_placement(document)
    if plan.has_exports:
        own = "var.subnet_id" if provider == "azure" else "var.subnetwork"
        document.values["allowed"] = f'${{{own} == "" ? "{variables.OWN_RANGE}" : var.allowed_cidr}}'
    mount = _add_storage(document, plan, parts)
    add_boots(document, plan, mount)
    parts.add_hosts(document, plan)
    place = "var.location" if provider == "azure" else "var.region"
    variables.add_outputs(document, plan, place, parts.addresses(plan))
    return document.content()


def _add_storage(document: TofuDocument, plan: StackPlan, parts: Any) -> str:
    if plan.service is None:
        return FAMILIES[plan.family].mount.format(main=f"${{{parts.MAIN_ADDRESS}}}")
    services: Mapping[str, FileService] = {**AZURE_SERVICES, **GOOGLE_SERVICES}
    return services[plan.family].add(document, plan)


def _check_disks(plan: StackPlan, provider: str) -> None:
    for group in plan.groups:
        if group.volumes is not None and group.volumes.type not in DISKS[provider]:
            message = f"design {plan.design}: {group.volumes.type} is no disk of {provider}"
            raise AssayError(message, f"there are: {', '.join(DISKS[provider])}")


def region_of(design: Design) -> str:
    """Return the region of a design's price book: eastus of azure-eastus."""
    return (design.book or "").partition("-")[2]
