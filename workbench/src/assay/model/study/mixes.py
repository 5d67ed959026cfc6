"""The composition of mixed operations."""

from assay.model.study.contents import parse_mix
from assay.model.study.names import MIXABLE, MIXES, WORK
from assay.model.study.parameters import Parameters


def mix_of(operation: str, parameters: Parameters) -> dict[str, int] | None:
    """Return kind of operation -> share in percent; None if the operation is no mix."""
    if operation in MIXABLE:
        return parse_mix(parameters.mix) if parameters.mix else {}
    if operation in MIXES:
        return {"read": parameters.read_percent, "write": 100 - parameters.read_percent}
    return None


def moved_shares(operation: str, parameters: Parameters) -> tuple[float, float]:
    """Return the shares, 0 to 1, of a mix's operations that read contents and that write contents."""
    shares = mix_of(operation, parameters) or {}
    reads = sum(shares.get(kind, 0) for kind in ("read", "get"))
    writes = sum(shares.get(kind, 0) for kind in ("write", "create", "put", "update"))
    return reads / 100, writes / 100


def read_share(operation: str, parameters: Parameters) -> float:
    """Return the read share, 0 to 1, of the bytes that an operation moves."""
    if operation in MIXES or operation in MIXABLE:
        reads, writes = moved_shares(operation, parameters)
        return reads / (reads + writes) if reads else 0.0
    return float(operation in WORK and WORK[operation].reads)
