"""The environment: the machine and the software, as found."""

from assay.report.document import Block, Facts, Heading, Note, Section
from assay.report.view import View


def section(view: View) -> Section:
    """One list per part of the machine."""
    blocks: list[Block] = []
    for place, (name, values) in enumerate(view.run.environment.items()):
        blocks += [Heading(name[:1].upper() + name[1:], f"environment-{place}", 4), Facts(tuple(values.items()))]
    if not blocks:
        blocks.append(Note("The run holds no description of its environment.", "warning"))
    return Section("environment", "Environment", tuple(blocks))
