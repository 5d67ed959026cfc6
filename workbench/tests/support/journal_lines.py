"""Lines of journals in files."""


def claim(number: int, kind: str, name: str, **details: object) -> dict[str, object]:
    """What says that something will be made."""
    return {"id": number, "kind": kind, "name": name, "details": details, "at": 1.8e9}
