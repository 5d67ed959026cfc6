"""`assay deploy template`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.model.base import AssayError
from assay.terminal.output_file import FORCE, OutputFile, never_marked, output_option

if TYPE_CHECKING:
    from assay.model.money.design import Design
    from assay.money.cost.designs import Template
    from assay.rooms.deploy.model.stack_plan import StackPlan
    from assay.rooms.deploy.work.templates.plan import HostOptions

LEASING = ("aws", "azure")
"""Providers of whose leased lines there are templates."""
OUTPUT = output_option("File for the template. Default: standard output.")


def command(
    design: str = typer.Argument(
        ..., metavar="DESIGN", help="Shipped design or file; values may follow: nfs-gp3:volumes=8,iops=16000."
    ),
    fixed: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="Value of a parameter. Repeatable."),
    capacity: str = typer.Option(
        "", "--capacity", metavar="SIZE", help="Size the design for this usable capacity, such as 40TB."
    ),
    clients: int = typer.Option(None, "--clients", metavar="N", min=0, max=1000, help="Client hosts. Default: 1."),
    client_instance: str = typer.Option("", "--client-instance", metavar="TYPE", help="Instance type of the clients."),
    login: str = typer.Option("", "--login", metavar="TYPE", help="Add a login host of this instance type."),
    attach: bool = typer.Option(False, "--attach", help="Join a BeeGFS that exists, with storage hosts only."),
    output: Path = OUTPUT,
    force: bool = FORCE,
) -> None:
    """Write the template of a design, to review, keep and launch by hand: for CloudFormation, OpenTofu or Terraform.

    What a person who launches it may want to change is a parameter of the template. A stack of AWS deletes itself at
    its parameter ExpiryTime. nfs-aws-2016 is the template of the paper on NFS in AWS, for an existing cluster. A design
    of Azure or Google becomes a main.tf.json; what that makes is there until `tofu destroy`.

    Exit codes: 0 written, 2 wrong input, or the file exists.

    Example: `assay deploy template nfs-gp3 --set volumes=4 --clients 8 > stack.yaml`
    """
    from assay.rooms.deploy.work.templates.nfs_2016 import NAME, nfs_2016_template
    from assay.rooms.deploy.work.templates.render import template_yaml

    file = OutputFile(output or Path("-"), never_marked, force)
    if design == NAME:
        if fixed or capacity or clients is not None or client_instance or login or attach:
            raise AssayError(f"{NAME} is a whole template: nothing of it can be set", "leave the other options out")
        text = template_yaml(nfs_2016_template())
    else:
        from assay.rooms.deploy.work.templates.plan import HostOptions

        text = text_of(design, fixed, capacity, HostOptions(clients, client_instance, login, attach))
    file.write(text)


def text_of(design: str, fixed: list[str], capacity: str, options: "HostOptions") -> str:
    """Return the template of a design: YAML of CloudFormation, or JSON of OpenTofu.

    Raises:
        AssayError: The design is unknown, wrong, or no template can build it.
    """
    from assay.rooms.deploy.work.templates.build import build_template
    from assay.rooms.deploy.work.templates.plan import HostOptions, make_plan
    from assay.rooms.deploy.work.templates.render import template_yaml
    from assay.rooms.deploy.work.tofu.build import CLOUDS, build_document, region_of
    from assay.rooms.deploy.work.tofu.document import tofu_json

    template, values = _design_of(design, fixed, capacity)
    built = template.build(values)
    if built.link is not None and built.provider in LEASING:
        if options != HostOptions():
            raise AssayError(f"design {built.design} becomes leased lines, which have no hosts", "leave hosts out")
        return _link_text(built)
    cloud = CLOUDS.get(built.provider)
    if cloud is None or built.provider is None:
        return template_yaml(build_template(make_plan(template, values, options)))
    plan = make_plan(template, values, options, cloud)
    return tofu_json(build_document(plan, built.provider, region_of(built)))


def _link_text(design: "Design") -> str:
    from assay.rooms.deploy.work.links.direct_connect import direct_connect_template
    from assay.rooms.deploy.work.links.express_route import express_route_document
    from assay.rooms.deploy.work.templates.render import template_yaml
    from assay.rooms.deploy.work.tofu.build import region_of
    from assay.rooms.deploy.work.tofu.document import tofu_json

    if design.provider == "azure":
        return tofu_json(express_route_document(design, region_of(design)))
    return template_yaml(direct_connect_template(design))


def plan_of(design: str, fixed: list[str], capacity: str, options: "HostOptions") -> "StackPlan":
    """Return what the stack of a design consists of.

    Args:
        design: As the user typed it.
        fixed: Words KEY=VALUE.
        capacity: Usable capacity; empty: as the design has it.
        options: `HostOptions`.

    Raises:
        AssayError: The design is unknown, wrong, or no template can build it.
    """
    from assay.rooms.deploy.work.templates.plan import make_plan

    template, values = _design_of(design, fixed, capacity)
    return make_plan(template, values, options)


def _design_of(design: str, fixed: list[str], capacity: str) -> "tuple[Template, dict[str, Any]]":
    """Return the design that is typed, and the values of its parameters that are not their defaults."""
    from assay.cli.money.price_choose import combine_designs
    from assay.cli.money.price_sizing import parse_capacity
    from assay.money.cost.designs import load_template
    from assay.rooms.deploy.work.templates.size import sized_values

    _check_name(design.partition(":")[0])
    ((chosen, _),) = combine_designs([design], fixed, [])
    template = load_template(chosen.design)
    values = dict(chosen.set)
    if capacity:
        values = sized_values(template, chosen, parse_capacity(capacity))
    return template, values


def _check_name(name: str) -> None:
    """Refuse a name that is neither a design nor a file, with the nearest of those that have a template.

    Raises:
        AssayError: It is neither.
    """
    import difflib

    from assay.model.units import display_value
    from assay.money.cost.designs import design_names

    names = design_names()
    if name in names or "/" in name or Path(name).suffix or Path(name).exists():
        return
    # Reading all designs takes seconds: only those with a similar name are.
    near = next(filter(has_template, difflib.get_close_matches(name, names, n=5)), None)
    hint = f"did you mean `{near}`?" if near else "docs/guides/deploy.md lists those with a template, such as nfs-gp3"
    raise AssayError(f"there is no design {display_value(name)}", hint)


def has_template(name: str) -> bool:
    """Return whether `assay deploy template` can write the template of a shipped design, as it is."""
    from assay.rooms.deploy.work.templates.plan import AWS, HostOptions, make_plan
    from assay.rooms.deploy.work.tofu.build import CLOUDS

    try:
        template, values = _design_of(name, [], "")
        built = template.build(values)
        if built.link is None or built.provider not in LEASING:
            make_plan(template, values, HostOptions(), CLOUDS.get(built.provider, AWS))
    except AssayError:
        return False
    return True
