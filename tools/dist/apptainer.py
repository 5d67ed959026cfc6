"""The definition file of an Apptainer image, made from the Containerfile: the same base, files and commands."""

import re

DEFINITION = """\
# Assay in an image of Apptainer: apptainer build assay.sif target/dist/assay.def, in the source's folder.
# Made by `make dist` from tools/dist/Containerfile, which says why.
Bootstrap: docker
From: {base}

%files
{files}

%post
{commands}

%environment
    export LC_ALL=C.UTF-8

%runscript
    exec {entry} "$@"
"""
"""Apptainer's manual, Definition Files."""


def definition(containerfile: str, folder: str) -> str:
    """The definition that says the same as a Containerfile.

    Args:
        containerfile: Its text, with FROM, COPY, RUN, WORKDIR and ENTRYPOINT, each once or several times.
        folder: Where the files that it copies lie, as seen from where the image is built.

    Raises:
        ValueError: An instruction is not known.
    """
    base, entry, files, commands = "", "", [], []
    for instruction, rest in _instructions(containerfile):
        match instruction:
            case "FROM":
                base = rest.removeprefix("docker.io/library/")
            case "COPY":
                *names, to = rest.split()
                files += [f"    {folder}/{name} {to}" for name in names]
            case "RUN":
                commands.append(f"    {rest}")
            case "ENTRYPOINT":
                entry = " ".join(re.findall(r'"([^"]*)"', rest))
            case "WORKDIR":
                # Apptainer works in the folder of its user.
                pass
            case other:
                raise ValueError(f"tools/dist/Containerfile: nothing is known of {other} in a definition of Apptainer")
    return DEFINITION.format(base=base, files="\n".join(files), commands="\n".join(commands), entry=entry)


def _instructions(text: str) -> list[tuple[str, str]]:
    """Instruction and what is behind it, with lines that go on joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in joined.splitlines()]
