"""Arguments and attributes of the providers' resources that documents use, and what is wrong with a document by them.

The data in `golden/provider_schemas/` are facts of the generated bindings `cdktf-cdktf-provider-*` and
`cdktn-provider-*` (PyPI), which are made from what the providers print of their schemas. To read others:

    pip download --no-deps cdktn-provider-azurerm==18.9.0
    python provider_schemas.py cdktn_provider_azurerm-18.9.0-py3-none-any.whl > azurerm-5.10.0.json
"""

import functools
import io
import json
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Types = Mapping[str, Any]
FOLDER = Path(__file__).parents[1] / "golden" / "provider_schemas"
VERSIONS = ("azurerm-4.55.0", "azurerm-5.10.0", "google-6.50.0", "google-8.7.0")
META = frozenset(("count", "for_each", "depends_on", "lifecycle", "provider", "connection", "provisioners", "dynamic"))
REFERENCE = re.compile(r"(?<![\w.])((?:data\.)?(?:azurerm|google)_\w+)\.([a-z]\w*)((?:\[[^]]*\])?)(?:\.(\w+))?")


@functools.cache
def schema(version: str) -> dict[str, Any]:
    """The schema of a provider's release: type -> arguments and attributes."""
    found: dict[str, Any] = json.loads((FOLDER / f"{version}.json").read_text())["resources"]
    return found


def faults(document: Mapping[str, Any], version: str) -> Iterator[str]:
    """Yield what a document has that the provider's release does not take, or lacks."""
    types = schema(version)
    kept = {**document.get("resource", {}), **{f"data.{kind}": each for kind, each in document.get("data", {}).items()}}
    for kind, named in kept.items():
        for name, body in named.items():
            if kind not in types:
                yield f"{kind}: no such resource"
            else:
                yield from _body(f"{kind}.{name}", body, types[kind]["arguments"])
    provider = document["provider"][version.partition("-")[0]]
    yield from _body("provider", provider, types["provider"]["arguments"])
    for kind, name, attribute in references(document):
        if name not in kept.get(kind, {}):
            yield f"{kind}.{name} is referred to, but is not there"
        elif attribute and attribute not in types[kind]["attributes"]:
            yield f"{kind} has no attribute {attribute}"


def references(part: Any) -> set[tuple[str, str, str]]:
    """The resources that a part of a document refers to: type, name, attribute or the empty text."""
    text = json.dumps(part).replace('\\"', "'")
    return {(found[1], found[2], found[4] or "") for found in REFERENCE.finditer(text)}


def _body(place: str, body: Mapping[str, Any], arguments: Types) -> Iterator[str]:
    written = {name: value for name, value in body.items() if name not in META}
    for name, dynamic in body.get("dynamic", {}).items():
        written.setdefault(name, [])
        written[name] = [*written[name], dynamic["content"]]
    yield from (f"{place}: {name} is required" for name, about in arguments.items() if about[0] and name not in written)
    for name, value in written.items():
        if name not in arguments:
            yield f"{place}: no argument {name}"
            continue
        _, kind = arguments[name]
        if isinstance(kind, dict):
            for block in value if isinstance(value, list) else [value]:
                yield from _body(f"{place}.{name}", block, kind)
        elif not _fits(value, kind):
            yield f"{place}.{name}: {value!r} is no {kind}"


def _fits(value: Any, kind: str) -> bool:
    if isinstance(value, str):
        return kind == "string" or re.fullmatch(r"\$\{.*\}", value, re.S) is not None
    fitting = {"boolean": bool, "number": int | float, "list": list, "map": dict}
    return kind in fitting and isinstance(value, fitting[kind]) and (kind == "boolean" or not isinstance(value, bool))


def read_wheel(path: Path, wanted: Mapping[str, str]) -> dict[str, Any]:
    """Return the schema of the resources that are wanted from a wheel of generated bindings."""
    with zipfile.ZipFile(path) as wheel:
        about = next(wheel.read(name).decode() for name in wheel.namelist() if name.endswith("METADATA"))
        packed = next(wheel.read(name) for name in wheel.namelist() if name.endswith(".tgz"))
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        texts = [archive.extractfile(each) for each in archive if each.name.endswith((".jsii", ".jsii.gz"))]
        documents = [_json(file.read()) for file in texts if file is not None]
    types = next(each["types"] for each in documents if "types" in each)
    version = re.search(r"hashicorp/\w+/?(?: provider version )?([\d.]+)", about)
    assert version is not None
    found = {kind: _resource(types, base) for kind, base in wanted.items()}
    return {"release": version[1], "source": path.name, "licence": NOTICE, "resources": found}


NOTICE = "Names and types of arguments only; the bindings and the provider are under the Mozilla Public License 2.0"


def _json(data: bytes) -> Any:
    import gzip

    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def _resource(types: Types, base: str) -> dict[str, Any]:
    bases = {name.rpartition(".")[2].lower(): name for name in types}
    name = bases[base.lower()]
    own = types[name].get("properties", [])
    attributes = {_snake(each["name"]) for each in own if not each.get("static") and not each["name"].endswith("Input")}
    return {"arguments": _arguments(types, f"{name}Config"), "attributes": sorted(attributes)}


def _arguments(types: Types, name: str) -> dict[str, Any]:
    found = {}
    for each in types[name].get("properties", ()):
        named = re.search(r"#\w+ \w+#(\w+)", json.dumps(each.get("docs", {})))
        argument = named[1] if named else _snake(each["name"])
        if argument in META or argument == "timeouts":
            continue
        inner = next((kind for kind in _names(each["type"]) if types.get(kind, {}).get("kind") == "interface"), None)
        inner = None if inner is None or inner.startswith(("cdktf.", "cdktn.")) else inner
        found[argument] = [not each.get("optional", False), _arguments(types, inner) if inner else _kind(each["type"])]
    return found


def _names(kind: Any) -> Iterator[str]:
    if "fqn" in kind:
        yield kind["fqn"]
    for each in (kind.get("union") or {}).get("types", ()):
        yield from _names(each)
    if "collection" in kind:
        yield from _names(kind["collection"]["elementtype"])


def _kind(kind: Any) -> str:
    every = [kind, *(kind.get("union") or {}).get("types", ())]
    collections = [each["collection"]["kind"] for each in every if "collection" in each]
    if collections:
        return "map" if "map" in collections else "list"
    return next((each["primitive"] for each in every if "primitive" in each), "string")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: f"_{found[1].lower()}", name).lower()


def main(path: Path) -> None:
    """Print the schema of the resources of `resources.json` that a wheel has."""
    listed = json.loads((FOLDER / "resources.json").read_text())
    provider = "azurerm" if "azurerm" in path.name else "google"
    made = read_wheel(path, listed[provider])
    lines = ",\n".join(f"{json.dumps(kind)}: {json.dumps(each)}" for kind, each in made["resources"].items())
    head = json.dumps({key: each for key, each in made.items() if key != "resources"})
    print(f'{head[:-1]}, "resources": {{\n{lines}\n}}}}')


if __name__ == "__main__":
    main(Path(sys.argv[1]))
