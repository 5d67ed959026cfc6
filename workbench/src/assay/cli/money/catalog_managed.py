"""`assay catalog show` for a managed service: its scaling laws in words, and its limits at a few sizes."""

from assay.model.money.catalog import ManagedType
from assay.model.money.catalog_entry import TIB
from assay.model.units import format_size
from assay.terminal.output import print_json, print_line, print_table

COLUMNS = ("size", "reading", "writing", "read IOPS", "write IOPS")


def show_managed(entry: ManagedType, size: int | None, iops: int | None, rate: float | None, *, as_json: bool) -> None:
    """Print an entry of the catalogue.

    Args:
        entry: The entry.
        size: Bytes; None: a few possible sizes.
        iops: Provisioned IOPS; None: the included ones.
        rate: Provisioned bytes per second; None: what is included, or the least that can be provisioned.
        as_json: Print JSON instead of text.

    Raises:
        AssayError: The service is not available with these values.
    """
    sizes = _sizes(entry) if size is None else [size]
    if size is not None:
        entry.check(size, rate, iops)
    rows = [(each, *_values(entry, each, iops, rate)) for each in sizes]
    if as_json:
        keys = ("size", "read", "write", "read_iops", "write_iops")
        limits = [dict(zip(keys, row, strict=True)) for row in rows]
        print_json({"kind": "managed service", **entry.model_dump(mode="json"), "limits": limits})
        return
    print_line(f"{entry.name}: managed service")
    print_table(("what", "figure"), _figures(entry))
    print_table(COLUMNS, [_row(row) for row in rows], right=COLUMNS[1:])
    for condition in entry.conditions:
        print_line(f"Condition: {condition}")
    for line in entry.source_lines():
        print_line(line)


def _sizes(entry: ManagedType) -> list[int]:
    wanted = (entry.min_size, TIB, 10 * TIB, 100 * TIB, entry.max_size or 100 * TIB)
    found = (entry.size_for(each) for each in wanted)
    return sorted({each for each in found if each is not None})


def _values(entry: ManagedType, size: int, iops: int | None, rate: float | None) -> tuple[float | None, ...]:
    """Return bytes per second of reading and writing, then operations per second of both; None where not stated."""
    provisioned = rate if rate is not None else _min_provisioned(entry, size)
    provisioned_iops = float(iops) if iops is not None else entry.iops.included(size) if entry.iops else 0.0
    rates = (law.value(size, provisioned) if law is not None else None for law in (entry.read, entry.write))
    counts = (
        law.value(size, provisioned_iops, provisioned) if law is not None else None
        for law in (entry.read_iops, entry.write_iops)
    )
    return (*rates, *counts)


def _min_provisioned(entry: ManagedType, size: int) -> float:
    """Return the least bytes per second that can be provisioned: included or sold; 0 if none are sold separately."""
    offer = entry.throughput
    if offer is None:
        return 0.0
    return max(offer.included(size), offer.min, min(offer.choices, default=0.0))


def _row(row: tuple[float | None, ...]) -> tuple[str, ...]:
    size, *values = row
    words = [f"{value / 1e6:,.6g} MB/s" if value is not None else "not stated" for value in values[:2]]
    words += [f"{value:,.0f}" if value is not None else "not stated" for value in values[2:]]
    return (format_size(int(size or 0)), *words)


def _figures(entry: ManagedType) -> list[tuple[str, str]]:
    """Return the stated figures as rows, without the limits that follow from the size."""
    most = format_size(entry.max_size) if entry.max_size is not None else "any size"
    step = f", in steps of {format_size(entry.step)}" if entry.step > 1 else ""
    rows = [
        ("what it is", f"{entry.label}, of {entry.provider}"),
        ("zones", str(entry.zones)),
        ("durability", entry.durability),
        ("availability", f"{entry.availability:g} %" if entry.availability is not None else ""),
        ("stated in", entry.availability_source),
        ("size", f"{format_size(entry.min_size)} to {most}{step}"),
        ("billed by", "provisioned size" if entry.billed == "provisioned" else "stored bytes"),
    ]
    laws = {"reading": entry.read, "writing": entry.write, "read IOPS": entry.read_iops, "write IOPS": entry.write_iops}
    rows += [(name, law.formula()) for name, law in laws.items() if law is not None]
    if entry.shared:
        rows.append(("together", "reads and writes share one limit"))
    if entry.max_request is not None:
        rows.append(("one request", f"at most {format_size(entry.max_request)}; reads and writes share their number"))
    return [row for row in rows if row[1]]
