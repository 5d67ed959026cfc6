"""`assay init`: a study to start from."""

from importlib import resources
from pathlib import Path

import typer

from assay.model.base import AssayError
from assay.model.units import choices_hint
from assay.terminal.output import print_line
from assay.terminal.output_file import FORCE, OutputFile, never_marked

PRESETS = ("two-places", "quickstart", "sweep", "oltp", "thirteen", "metadata", "objects", "engine")


def command(
    file: Path = typer.Argument(Path("study.yaml"), help="File to write; `-` prints it.", metavar="[FILE]"),
    preset: str = typer.Option("two-places", "--from", help=f"Preset: {', '.join(PRESETS)}.", metavar="PRESET"),
    force: bool = FORCE,
) -> None:
    """Write a commented study file to start from. An existing file is replaced only with --force.

    Presets: two-places compares disk and memory in a minute; quickstart compares them in more ways, and adds a
    simulated bucket and table; sweep is queue depth x record size; oltp mixes reads and writes at given rates;
    thirteen runs all of iozone's operations; metadata creates, stats and removes many small files; objects compares
    a bucket with a table; engine measures Assay itself on a null target.

    Example: `assay init my-study.yaml --from sweep`
    """
    output = OutputFile(file, never_marked, force, "assay init")
    output.write(preset_text(preset))
    if not output.prints:
        print_line(f"wrote {file}; next: assay plan {file}")


def preset_text(name: str) -> str:
    """Return a preset as users get it, without the line that points editors to the schema in this repository.

    Raises:
        AssayError: There is no such preset.
    """
    if name not in PRESETS:
        raise AssayError(f"there is no preset `{name}`", choices_hint(name, PRESETS))
    text = resources.files("assay").joinpath("presets", f"{name}.yaml").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("# yaml-language-server:"))
