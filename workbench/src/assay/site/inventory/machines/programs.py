"""Programs and services that are asked for machines: terraform, tofu, pcluster, and the room that knows stacks."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from assay.launch.commands import MAX_STDOUT_BYTES, collect
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.room import hook
from assay.model.site.host import is_host_name
from assay.model.study.hosts import HostTool
from assay.model.user_files import path_kind, read_user_file
from assay.site.inventory.machines.documents import PARALLELCLUSTER, STACK, TERRAFORM

SECONDS = 120.0
"""Time that a program has for its answer; a state may be far away."""
MAX_BYTES = 32 << 20
MAX_PAGES = 100
"""Most pages of one answer: pcluster has about 100 instances on each."""
TERRAFORM_PROGRAMS = ("terraform", "tofu")


def query_tool(known_by: HostTool, base: Path) -> bytes | None:
    """Return the JSON of what a tool says of its machines; None if the study names a file that has it.

    Args:
        known_by: The tool.
        base: Folder that a relative name starts from.

    Raises:
        AssayError: The program is missing, fails or does not answer, or the cloud refuses.
    """
    if known_by.tool == STACK:
        stack: bytes = hook("stack_document")(known_by.name, known_by.region or "")
        return stack
    if known_by.tool == PARALLELCLUSTER:
        return _cluster_instances(known_by)
    if known_by.tool == TERRAFORM and path_kind(base / known_by.name) == "folder":
        return _terraform_outputs(base / known_by.name, known_by.name)
    return None


def _terraform_outputs(folder: Path, name: str) -> bytes:
    """Return the state of a folder, or where it is elsewhere, its outputs as the program prints them."""
    state = folder / "terraform.tfstate"
    chosen = folder / ".terraform" / "environment"
    if path_kind(chosen) == "file":
        # The workspace; `default` has its state in the folder itself.
        data = read_user_file(chosen, f"cannot read {name}/.terraform/environment", "see its permissions", 4096)
        workspace = data.decode("utf-8", "replace").strip()
        if is_host_name(workspace) and workspace != "default":
            state = folder / "terraform.tfstate.d" / workspace / state.name
    if path_kind(state) == "file":
        data = read_user_file(state, f"cannot read the state {state}", "see its permissions", MAX_BYTES)
        if b'"resources"' in data:
            return data
    program = next((one for one in TERRAFORM_PROGRAMS if shutil.which(one)), None)
    if program is None:
        message = f"{name} has no terraform.tfstate, and neither terraform nor tofu is in PATH to ask for its outputs"
        hint = f"run `terraform output -json > outputs.json` in {name}, and name that file"
        raise AssayError(message, hint, EXIT_REFUSED)
    settings = {"TF_INPUT": "0", "TF_IN_AUTOMATION": "1", "TF_CLI_ARGS": "", "TF_CLI_ARGS_output": ""}
    return _run([program, "output", "-no-color", "-json"], folder, f"run `{program} init` in {name}", settings)


def _cluster_instances(known_by: HostTool) -> bytes:
    command = ["pcluster", "describe-cluster-instances", "--cluster-name", known_by.name]
    command += ["--region", known_by.region] if known_by.region else []
    if shutil.which(command[0]) is None:
        message = "pcluster, the program of AWS ParallelCluster, is not in PATH"
        hint = "install it: `pip install aws-parallelcluster`; or store its answer and name the file: {inventory: FILE}"
        raise AssayError(message, hint, EXIT_REFUSED)
    instances: list[object] = []
    page: list[str] = []
    for _ in range(MAX_PAGES):
        data = _run([*command, *page], None, "`pcluster list-clusters` shows which there are")
        try:
            answer = json.loads(data)
            instances += answer["instances"]
            following = answer.get("nextToken")
        except (ValueError, KeyError, TypeError, AttributeError):
            message = "`pcluster describe-cluster-instances` answers in no known form"
            raise AssayError(message, "use AWS ParallelCluster 3") from None
        if not following:
            break
        page = ["--next-token", str(following)]
    return json.dumps({"instances": instances}).encode()


def _run(command: Sequence[str], folder: Path | None, hint: str, settings: dict[str, str] | None = None) -> bytes:
    """Return what a program prints.

    Raises:
        AssayError: It fails, with its first line about an error, or does not answer.
    """
    shown = " ".join(command[:2])
    pipe, environment = subprocess.PIPE, {**os.environ, **(settings or {})}
    try:
        process = subprocess.Popen(
            list(command), cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, bufsize=0
        )
    except OSError as error:
        raise AssayError(f"`{shown}` cannot be started: {error.strerror}", hint, EXIT_REFUSED) from None
    done = collect(process, None, SECONDS)
    if done.timed_out:
        raise AssayError(f"`{shown}` has not answered for {SECONDS:g} s", hint, EXIT_REFUSED)
    if done.overflowed:
        raise AssayError(f"`{shown}` printed more than {MAX_STDOUT_BYTES / 1e6:.1f} MB", hint, EXIT_REFUSED)
    if done.code:
        raise AssayError(f"`{shown}` failed: {_reason(done.err or done.out)}", hint, EXIT_REFUSED)
    return done.out


def _reason(output: bytes) -> str:
    """Return what a program says of its failure, on one line: a message in JSON, or the first line with text."""
    text = output.decode("utf-8", "replace")
    try:
        message = json.loads(text)["message"]
    except (ValueError, KeyError, TypeError):
        lines = [" ".join(line.strip("│╷╵| ").split()) for line in text.splitlines()]
        named = (line for line in lines if line.lower().startswith("error"))
        message = next(named, next(filter(None, lines), "it says nothing"))
    return "".join(one if one.isprintable() else " " for one in str(message))[:300]
