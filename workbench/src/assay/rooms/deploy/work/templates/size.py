"""The size of a design for a capacity: of volumes, numbers of hosts, or the type of an instance with disks."""

from typing import Any

from assay.cli.money.price_sizing import size_designs
from assay.model.base import AssayError
from assay.model.money.use import DesignChoice
from assay.model.units import format_size
from assay.money.cost.designs import Template
from assay.money.cost.sizing import SIZE_PARAMETERS

INSTANCE = "instance"
"""Parameter of designs that names the type of the servers."""


def sized_values(template: Template, chosen: DesignChoice, wanted: int) -> dict[str, Any]:
    """Return the values of the design in its smallest size that holds `wanted` bytes.

    A design whose capacity is that of the disks inside one server gets the type of instance, among its choices, with
    the least capacity that suffices.

    Raises:
        AssayError: It cannot be that large.
    """
    scales = any(each.scale for key, each in template.parameters.items() if key not in chosen.set)
    if scales or any(key in template.parameters for key in SIZE_PARAMETERS) or INSTANCE not in template.parameters:
        ((sized, _),) = size_designs([(chosen, template.build(chosen.set))], wanted)
        return dict(sized.set)
    if INSTANCE in chosen.set:
        message = f"design {chosen.label}: {INSTANCE} is set, but --capacity sets it, too"
        raise AssayError(message, f"leave one of --capacity and {INSTANCE} out")
    parameter = template.parameters[INSTANCE]
    offered = [{**chosen.set, INSTANCE: each} for each in dict.fromkeys((parameter.value, *parameter.choices))]
    usable = [(template.limits(values).usable, values) for values in offered]
    enough = [(size, number) for number, (size, _) in enumerate(usable) if size >= wanted]
    if not enough:
        most = format_size(max(size for size, _ in usable))
        hint = f"its largest instance holds {most}; take a design with volumes or with several servers"
        raise AssayError(f"design {chosen.label} cannot hold {format_size(wanted)}", hint)
    return usable[min(enough)[1]][1]
