"""Knows by its content which tool wrote a JSON document, and reads the machines in it."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.model.base import AssayError
from assay.model.site.storage import SiteStorage
from assay.site.inventory import ansible
from assay.site.inventory.foreign import ForeignInventory, ReportLine
from assay.site.inventory.machines import cloudformation, parallelcluster, terraform
from assay.site.inventory.machines.machine import CloudMachine, inventory_of, words_of

ANSIBLE, TERRAFORM, STACK, PARALLELCLUSTER = "ansible", "terraform", "stack", "parallelcluster"
"""Words of a study for what knows hosts."""
Document = Mapping[str, Any]


@dataclass(frozen=True)
class Form:
    """A JSON document of a tool.

    Attributes:
        tool: Word of a study for the tool.
        about: What the document is, for messages.
        is_form: Whether a document has this form.
        read: Returns its machines.
    """

    tool: str
    about: str
    is_form: Callable[[Document], bool]
    read: Callable[[Document, ReportLine], list[CloudMachine]]


FORMS = (
    Form(STACK, "a stack of CloudFormation", cloudformation.is_stack, cloudformation.read_stack),
    Form(PARALLELCLUSTER, "instances of a cluster", parallelcluster.is_instances, parallelcluster.read_instances),
    Form(PARALLELCLUSTER, "a cluster", parallelcluster.is_cluster, parallelcluster.read_cluster),
    Form(TERRAFORM, "a state of Terraform", terraform.is_state, terraform.read_state),
    Form(TERRAFORM, "outputs of Terraform", terraform.is_output, terraform.read_output),
    Form(TERRAFORM, "an output of Terraform", terraform.is_value, terraform.read_value),
)
FORMS_HINT = (
    "JSON is read of `terraform output -json`, `terraform show -json`, `ansible-inventory --list`,"
    " `aws cloudformation describe-stacks`, `aws ec2 describe-instances`, `pcluster describe-cluster-instances`"
)


def parse_json(text: str) -> Document | None:
    """Return a text as a JSON object, a list as an output with addresses; None if it is something else.

    Raises:
        AssayError: It begins as JSON, and is not valid.
    """
    if not re.match(r"\s*(\{|\[\s*[\"{])", text):
        return None
    try:
        document = json.loads(text)
    except RecursionError:
        raise AssayError("is nested too deeply", FORMS_HINT) from None
    except json.JSONDecodeError as error:
        raise AssayError(f"line {error.lineno} is not JSON: {error.msg.lower()}", FORMS_HINT) from None
    return document if isinstance(document, dict) else terraform.output_of(document)


def read_document(document: Document, path: Path, report: ReportLine, user: str | None = None) -> ForeignInventory:
    """Return the hosts of a document, whichever tool wrote it.

    Args:
        document: The document.
        path: Path of its file, for messages.
        report: Called with a line about what was ignored or decided.
        user: User to log in as, whatever the document says.

    Raises:
        AssayError: No known tool writes such documents, or it has no hosts that can be used.
    """
    form = form_of(document)
    if form is None and ansible.is_list(document):
        return ansible.read_list(document, path, report)
    if form is None:
        raise AssayError("is JSON of no known form", FORMS_HINT)
    try:
        machines = form.read(document, report)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        message = f"looks like {form.about}, but is damaged: {type(error).__name__} {error}"
        raise AssayError(message, "store it again as the tool writes it") from None
    if user is not None:
        machines = [replace(item, user=user) for item in machines]
    return inventory_of(machines, report)


@dataclass(frozen=True)
class SiteFacts:
    """What a document says of its site apart from machines.

    Attributes:
        storage: Storage that was made; None if it names none.
        region: Region of the cloud; empty if unknown.
        design: Name of the design of which it was made; None if it names none.
        values: Parameter of the design -> value.
        hosts: Type of the instances that generate load, or are for logins -> how many run.
        network: Rented part of the network, as price books call it -> how many.
    """

    storage: SiteStorage | None = None
    region: str = ""
    design: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    hosts: Mapping[str, int] = field(default_factory=dict)
    network: Mapping[str, int] = field(default_factory=dict)


def facts_in(document: Document, region: str = "") -> SiteFacts:
    """Return what a document says of its site, in outputs named as those of the templates of `assay deploy`.

    Args:
        document: The document.
        region: Region of the cloud, if it is known otherwise.
    """
    tool = tool_of(document)
    found: Mapping[str, Any] = {}
    hosts: Mapping[str, int] = {}
    network: Mapping[str, int] = {}
    if tool == STACK:
        found = cloudformation.stack_outputs(document)
        region = region or cloudformation.region_of(document)
        hosts, network = cloudformation.host_types(document), cloudformation.network_parts(document)
    elif tool == TERRAFORM:
        found = terraform.state_outputs(document) if terraform.is_state(document) else terraform.outputs_of(document)
    outputs = {"_".join(words_of(name)): value for name, value in found.items()}
    texts = {name: value for name, value in outputs.items() if isinstance(value, str)}
    region = region or texts.get("region", "")
    storage = SiteStorage(
        servers=tuple(_listed(outputs.get("storage_addresses"))),
        mount=texts.get("mount", ""),
        mount_type=texts.get("mount_type", ""),
        mount_point=texts.get("mount_point", ""),
        bucket=texts.get("bucket_name", ""),
        table=texts.get("table_name", ""),
        region=region,
    )
    has_storage = storage.has_files or storage.bucket or storage.table
    design, values = _design(texts.get("assay_design", ""))
    return SiteFacts(storage if has_storage else None, region, design, values, hosts, network)


def _listed(value: object) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return [part.strip() for part in parts if isinstance(part, str) and part.strip()]


def _design(text: str) -> tuple[str | None, dict[str, Any]]:
    """Return the name of a design and its values from one line of JSON; None if it is something else."""
    try:
        found = json.loads(text)
        name, values = found["design"], found.get("values") or {}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None, {}
    return (name, values) if isinstance(name, str) and isinstance(values, dict) else (None, {})


def form_of(document: Document) -> Form | None:
    """Return the form of a document other than Ansible's; None if it is unknown."""
    return next((form for form in FORMS if form.is_form(document)), None)


def tool_of(document: Document) -> str:
    """Return the word of the tool that wrote a document; empty if it is unknown."""
    form = form_of(document)
    return form.tool if form is not None else ANSIBLE if ansible.is_list(document) else ""
