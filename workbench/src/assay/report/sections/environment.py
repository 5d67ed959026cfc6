"""The environment: the machine and the software, as found."""

from assay.analyse.environments.settings import setting_lines
from assay.report.document import Block, Bullets, Facts, Fold, Mono, Note, Paragraph, Section
from assay.report.environments import readable
from assay.report.view import View

_BRIEF: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Host", "host", ("name", "vendor", "product", "system")),
    ("Cloud", "cloud", ("provider", "instance_type", "zone")),
    ("Kernel", "kernel", ("release", "version")),
    ("Processor", "cpu", ("model", "usable", "governor")),
    ("Memory", "memory", ("total",)),
)
"""Label, and the section and names of what a reader wants to see first."""
_BRIEF_OF_JOB = ("partition", "nodes", "time limit", "state", "reason", "stopped")
_JOB = "scheduler job "
_BRIEF_OF_TARGET = ("filesystem", "options", "device", "model", "scheduler")
_PREFIX = {"usable": "CPUs ", "governor": "governor ", "scheduler": "scheduler ", "time limit": "time limit "}
"""What is put before values that do not speak for themselves."""


def section(view: View) -> Section:
    """What a reader wants to see first, then all of it in one fold per part of the machine."""
    environment = {name: readable(values) for name, values in view.run.environment.items()}
    blocks: list[Block] = []
    brief = [(label, part, names) for label, part, names in _BRIEF if part in environment]
    brief += [(_title(part), part, _BRIEF_OF_TARGET) for part in environment if part.startswith("target ")]
    brief += [
        (_title(part.removeprefix("scheduler ")), part, _BRIEF_OF_JOB) for part in environment if part.startswith(_JOB)
    ]
    facts = [(label, _known(environment[part], names)) for label, part, names in brief]
    facts += [(f"Layers of target {place.target}", place.lies_on) for place in view.run.places if place.layers]
    if any(text for _, text in facts):
        blocks.append(Facts(tuple((label, text) for label, text in facts if text)))
    if lines := setting_lines(view.run.environment):
        blocks.append(Bullets(tuple(lines)))
    for name, values in environment.items():
        count = f"{len(values)} item{'s' * (len(values) != 1)}"
        blocks.append(Fold(f"{_title(name)}: {count}", (Facts(tuple(values.items())),)))
    if not blocks:
        blocks.append(Note("The run holds no description of its environment.", "warning"))
    else:
        blocks.append(Paragraph(("Two runs are compared with ", Mono("assay env --diff RUN RUN"), ".")))
    return Section("environment", "Environment", tuple(blocks))


def _title(name: str) -> str:
    return name[:1].upper() + name[1:]


def _known(values: dict[str, str], names: tuple[str, ...]) -> str:
    found = ((_PREFIX.get(name, ""), values.get(name, "")) for name in names)
    return "; ".join(prefix + value for prefix, value in found if value and not value.startswith(("none:", "unknown")))
