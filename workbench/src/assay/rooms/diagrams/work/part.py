"""The part `diagram` of papers: one figure, from what Assay knows or from what the author describes."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from assay.model.base import AssayError
from assay.model.quoting import FileOrigin, hide_content
from assay.model.room import hook
from assay.model.study.axis import fault
from assay.model.units import choices_hint, with_alternative
from assay.model.user_files import read_user_file
from assay.model.user_text import MAX_FILE_BYTES
from assay.model.yaml_files import Model, read_model
from assay.report import numbers
from assay.report.diagrams.network import Network, network_diagram
from assay.report.diagrams.pieces import diagram_chart
from assay.report.document import Block, Chart
from assay.report.paper_part import PaperContext, PartKind, PartOptions
from assay.rooms.diagrams.work.described import GUIDE, LABEL, DescribedNetwork
from assay.rooms.diagrams.work.frames import PRESETS, Frame, frame_diagram
from assay.rooms.diagrams.work.raid import RaidLayout, raid_diagram
from assay.rooms.diagrams.work.steps import Workflow, steps_diagram

SOURCES = ("design", "stack", "box", "inventory", "run", "file", "network", "frame", "raid", "steps")
_MIN_STAGES = 2


def _stages(written: Any) -> Any:
    """Return the steps as a workflow reads them."""
    if not isinstance(written, list | tuple) or len(written) < _MIN_STAGES:
        raise fault("a workflow is a list of two steps or more", "write for example `steps: [fastq, align, bam]`")
    return {"stages": written}


class DiagramOptions(PartOptions):
    """What is drawn: exactly one of `SOURCES`.

    Attributes:
        name: Title of the figure, in place of that which the drawn thing has.
        design, stack: Name or file of a design: as it is priced, and as `assay deploy` builds it.
        set: Values of the design's parameters.
        clients: Number of clients of a stack.
        box: Name or file of a cluster in a box.
        inventory: File with hosts.
        run: Name of a run in the paper.
        file, network: What the author describes, in a file of its own or here.
        frame: Name of a frame that Assay knows, or a file that describes one.
    """

    name: Annotated[str, Field(max_length=300)] = ""
    design: str | None = None
    stack: str | None = None
    set: dict[str, Any] = Field({})
    clients: Annotated[int, Field(ge=0, le=1000)] | None = None
    box: str | None = None
    inventory: str | None = None
    run: str | None = None
    file: str | None = None
    network: DescribedNetwork | None = None
    frame: str | None = None
    raid: RaidLayout | None = None
    steps: Annotated[Workflow | None, BeforeValidator(_stages)] = None

    @model_validator(mode="after")
    def _one(self) -> "DiagramOptions":
        found = [key for key in SOURCES if getattr(self, key) is not None]
        if len(found) != 1:
            has = f"has {numbers.listing(found)}" if found else "has nothing to draw"
            raise fault(f"a diagram {has}", f"write one of {', '.join(SOURCES)}", *found[1:2])
        if self.set and not (self.design or self.stack):
            raise fault("`set` is for a `design` or a `stack`", "leave it out", "set")
        if self.clients is not None and not self.stack:
            raise fault("`clients` is for a `stack`", "leave it out", "clients")
        return self

    @property
    def source(self) -> str:
        """Which of `SOURCES` it has."""
        return next(key for key in SOURCES if getattr(self, key) is not None)


def blocks(options: DiagramOptions, context: PaperContext) -> Iterator[Block]:
    """Yield the figure.

    Raises:
        AssayError: What is drawn is unknown or wrong, or does not fit on a page.
    """
    chart = _MAKERS[options.source](options, context)
    yield Chart(chart.id, options.name or chart.title, chart.caption, chart.drawing, chart.wide)


def _of_network(network: Network, name: str, caption: str = "") -> Chart:
    hosts = sum(host.count for host in network.hosts)
    counted = f"{numbers.plural(hosts, 'host')} in {numbers.plural(len(network.hosts), 'box', 'boxes')}."
    return diagram_chart(name, network_diagram(network), caption or " ".join((counted, *network.remarks)))


def _design(options: DiagramOptions, context: PaperContext) -> Chart:
    from assay.money.cost.designs import load_template
    from assay.report.diagrams.designs import design_chart

    design = load_template(str(options.design), context.folder).build(options.set)
    return design_chart(design, options.set)


def _stack(options: DiagramOptions, context: PaperContext) -> Chart:
    from assay.money.cost.designs import load_template

    template = load_template(str(options.stack), context.folder)
    network = hook("stack_network")(template, options.set, options.clients)
    return _of_network(network, f"Stack of the design {template.name}{_values(options.set)}")


def _values(values: Mapping[str, Any]) -> str:
    return f" ({', '.join(f'{key} {value}' for key, value in values.items())})" if values else ""


def _box(options: DiagramOptions, context: PaperContext) -> Chart:
    from assay.rooms.diagrams.work.boxes import box_network

    box = hook("box_description")(options.box, context.folder, FileOrigin(context.folder, False))
    return _of_network(box_network(box), f"Box {box.name}")


def _inventory(options: DiagramOptions, context: PaperContext) -> Chart:
    from assay.rooms.diagrams.work.inventories import inventory_network

    path = context.folder / str(options.inventory)
    network = inventory_network(path, FileOrigin(context.folder, False))
    return _of_network(network, f"Hosts of {options.inventory}")


def _run(options: DiagramOptions, context: PaperContext) -> Chart:
    from assay.rooms.diagrams.work.layers import run_diagram

    name = str(options.run)
    if name not in context.views:
        raise AssayError(f"the paper has no run `{name}`", choices_hint(name, context.views))
    run = context.views[name].run
    caption = "Each target with the layers below it, down to where its data is stored or this machine's view ends."
    return diagram_chart(f"Targets of {run.study}", run_diagram(run), caption)


def _file(options: DiagramOptions, context: PaperContext) -> Chart:
    network = _read(DescribedNetwork, str(options.file), context.folder, LABEL).network()
    return _of_network(network, "Hosts and network")


def _network(options: DiagramOptions, context: PaperContext) -> Chart:  # noqa: ARG001
    assert options.network is not None
    return _of_network(options.network.network(), "Hosts and network")


def _frame(options: DiagramOptions, context: PaperContext) -> Chart:
    name = str(options.frame)
    presets = {path.stem: path for path in sorted(PRESETS.glob("*.yaml"))}
    if name in presets:
        frame = read_model(Frame, presets[name].read_bytes(), f"{name}.yaml", GUIDE, is_shipped=True)
    elif "/" in name or Path(name).suffix:
        frame = _read(Frame, name, context.folder, "description of a frame")
    else:
        raise AssayError(f"there is no frame `{name}`", with_alternative(choices_hint(name, presets), "give a file"))
    caption = "Rows of 32 bits, the first bit at the left."
    source = f"Source: {frame.source}." if frame.source else ""
    return diagram_chart(frame.frame, frame_diagram(frame), f"{caption} {source}".strip())


def _raid(options: DiagramOptions, context: PaperContext) -> Chart:  # noqa: ARG001
    assert options.raid is not None
    return diagram_chart(options.raid.title, raid_diagram(options.raid), options.raid.summary)


def _steps(options: DiagramOptions, context: PaperContext) -> Chart:  # noqa: ARG001
    assert options.steps is not None
    return diagram_chart("Workflow", steps_diagram(options.steps), "The steps in order.")


def _read(model: type[Model], name: str, folder: Path, label: str) -> Model:
    """Read a file that a description names.

    Raises:
        AssayError: It cannot be read, or is wrong; the message then begins with `file:line:`.
    """
    path = folder / name
    data = read_user_file(path, name, f"name a file beside the paper; see {GUIDE}", MAX_FILE_BYTES)
    see = f"assay paper check {path.parent}/PAPER.yaml"
    with hide_content(name, f"a {label}", see, FileOrigin(folder, False), path, data):
        return read_model(model, data, name, GUIDE, label)


_MAKERS = {
    "design": _design,
    "stack": _stack,
    "box": _box,
    "inventory": _inventory,
    "run": _run,
    "file": _file,
    "network": _network,
    "frame": _frame,
    "raid": _raid,
    "steps": _steps,
}
DIAGRAM = PartKind(blocks, options=DiagramOptions)
