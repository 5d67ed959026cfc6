"""What memory is assumed to do."""

from assay.kinds.ram.study import RamTarget

from assay.model.study.speed import Speed


def speed(target: RamTarget) -> Speed:
    """As `Target.speed`."""
    return Speed(5e9, 1e-6, 1e-6, 8, "memory of the engine")
