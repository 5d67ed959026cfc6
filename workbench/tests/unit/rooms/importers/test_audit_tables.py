"""The audit of tables: right ones have notes at most, and each rule finds what it is for and nothing beside it."""

from collections import Counter
from pathlib import Path

import pytest
from paths import GOLDEN, REPOSITORY
from table_samples import FILE, PAPERS, PASTED, columns, roles_of

from assay.model.base import AssayError
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import AuditFinding
from assay.rooms.importers.audit.rules import audit
from assay.rooms.importers.audit.runs import outputs_of
from assay.rooms.importers.audit.tables.rules import TABLE_RULES, recomputed_cells
from assay.rooms.importers.work import table
from assay.rooms.importers.work.results import ImportOptions, OutputError, ToolOutput
from assay.rooms.importers.work.table_roles import RolesFile, parse_roles

STUDIES = REPOSITORY / "studies" / "papers"
FIGURES = ("rows: figures",)


def read(text: str, roles: str) -> list[ToolOutput]:
    known = RolesFile("r.yaml", parse_roles(roles.encode(), "r.yaml"), roles)
    return table.read(text, FILE, ImportOptions(roles=known, is_audit=True))


def found(text: str, roles: str) -> list[AuditFinding]:
    """What the rules about tables find."""
    ids = {rule.id for rule in TABLE_RULES}
    return [each for each in audit(read(text, roles), MachineFacts()) if each.rule in ids]


def figures(*lines: str) -> str:
    return columns(*lines, head=FIGURES)


def csv_of(*rows: str) -> str:
    return "\n".join(rows) + "\n"


ALL_IGNORED = "name: comment"
RATE = ("os: target", "op: operation", "mb: {role: throughput, unit: MB/s}")
BOUNDS = figures(ALL_IGNORED, "usd: ignored", "tb: ignored", "each: {role: derived, formula: usd / tb}")
COSTS = figures(ALL_IGNORED, "usd: ignored", "tb: ignored", "each: {role: derived, formula: usd / tb}")
GRID = columns("op: operation", "file: {role: file_size, unit: KiB}", "mb: {role: throughput, unit: MB/s}")
SIZES = columns(
    "op: operation",
    "file: {role: file_size, unit: KiB}",
    "rec: {role: record_size, unit: KiB}",
    "mb: {role: throughput, unit: MB/s}",
)
SERVERS = columns(
    "set: target", "count: servers", "mb: {role: throughput, unit: MB/s}", head=("with: {operation: read}",)
)
PLACES = figures("what: comment", "place: comment", "value: ignored")


def sizes(changed: dict[tuple[int, int], str], without: frozenset[tuple[str, int, int]] = frozenset()) -> str:
    rows = ["op,file,rec,mb"]
    for op in ("read", "write", "reread"):
        for file in (512, 1024, 2048, 4096):
            for record in (4, 16, 64, 256):
                if (op, file, record) not in without:
                    value = changed.get((file, record), f"{100 + file / 1000 + record / 100:.2f}")
                    rows.append(f"{op},{file},{record},{value if op == 'read' else f'{float(value) * 1.01:.2f}'}")
    return csv_of(*rows)


def grid(without: str = "") -> str:
    rows = [f"{op},{file},{number}1.5" for number, op in enumerate(("read", "write"), 1) for file in (4, 8, 16, 32)]
    return csv_of("op,file,mb", *(row for row in rows if not row.startswith(without or "-")))


MEANS = columns(
    "op: operation", *(f"run{number}: ignored" for number in (1, 2, 3)), "mean: {role: throughput, unit: MB/s}"
)
SCALING = columns("hosts: hosts", "mb: {role: throughput, unit: MB/s}", head=("with: {operation: read}",))
PRICES = columns(ALL_IGNORED, "price per hour: ignored", head=(*FIGURES, "book: aws-eu-west-1-2016"))
RUNS = figures("name: comment", "run 1: ignored", "run 2: ignored", "run 3: ignored", "best of 5 runs: ignored")
MONTHS = figures("name: comment", "$/hour: ignored", "$/month: ignored")
LATENCIES = figures("name: comment", "p90 (ms): ignored", "p99 (ms): ignored", "max (ms): ignored")
RATES = figures("name: comment", "write MB/s: ignored", "read MB/s: ignored", "creates/s: ignored")
TOTALS = figures("site: comment", "host: comment", "TB: ignored", "kW: ignored")
REPEATS = columns(
    "job: repeat", "tasks: streams", "mb: {role: throughput, unit: MB/s}", head=("with: {operation: read}",)
)
REPEATED = ("1,32,4.1", "2,32,4.9", "3,32,4.4", "4,16,1.1", "5,16,2.9", "7,64,9.4")
POINTS = figures(
    "name: comment",
    "at: {role: point, unit: KiB}",
    "usd: ignored",
    "tb: ignored",
    "each: {role: derived, formula: usd / tb, claim: A TB is dear}",
)
POWERS = figures("name: comment", "gib: ignored", "gb: {role: derived, formula: gib * 1.024 * 1.024 * 1.024}")
FALSE = {
    "bound-at-most-points": (csv_of("name,at,usd,tb,each", "a,64,10,5,>1", "a,128,10,5,>1", "a,256,2,5,>1"), POINTS),
    "unit-convention": (csv_of("name,gib,gb", "a,1100,1100", "b,2200,2200", "c,330,330"), POWERS),
    "latencies-in-order": (csv_of("name,p90 (ms),p99 (ms),max (ms)", "a,4.1,9.2,31", "b,5.2,41,11.2"), LATENCIES),
    "rows-with-figures-of-others": (
        csv_of("name,write MB/s,read MB/s,creates/s", "a,512.31,812.4,91223", "b,512.31,812.4,91223"),
        RATES,
    ),
    "count-of-columns": (csv_of("name,run 1,run 2,run 3,best of 5 runs", "a,1.52,2.51,3.53,3.53"), RUNS),
    "price-of-book": (csv_of("name,price per hour", "d2.xlarge,0.690", "d2.2xlarge,1.47"), PRICES),
    "factor-of-trend": (csv_of("hosts,mb", "1,101.5", "2,190.2", "4,3504.1", "8,610.3", "16,930.9"), SCALING),
    "derived-cell": (csv_of("name,usd,tb,each", "a,15.41,5,3.08", "b,15.12,12,1.36"), COSTS),
    "stated-bound": (csv_of("name,usd,tb,each", "a,15.41,5,>3", "b,15.12,12,<1.2"), BOUNDS),
    "bound-of-words": (csv_of("name,usd,tb,each", "a,15.41,5,>3", "b,15.12,12,<1.2?"), BOUNDS),
    "cut-off": (csv_of("name,usd,tb,each", "a,15.41,5,3.08", "b,11.88,13,0.91", "c,10.00,6,1.66"), COSTS),
    "another-formula": (
        csv_of(
            "op,run1,run2,run3,mean",
            *(
                f"{op},{a},{b},{c},{b}"
                for op, a, b, c in (
                    ("read", 101.2, 105.5, 131.8),
                    ("write", 88.3, 91.4, 99.2),
                    ("reread", 301.4, 322.7, 389.1),
                )
            ),
        ),
        MEANS,
    ),
    "summary-row": (csv_of("name,usd", "a,10.50", "b,20.25", "Total,30.57"), figures(ALL_IGNORED, "usd: {role: iops}")),
    "different-values": (csv_of("what,place,value", "a rate,figure 4,234", "a rate,section 9,240"), PLACES),
    "two-spellings": (csv_of("os,op,mb", "16 KB,read,5.1", "16KB,write,4.2"), columns(*RATE)),
    "count-of-range": (csv_of("ids,jobs", "1-5,5", "10-29,20", "51-95,40"), figures("ids: comment", "jobs: ignored")),
    "count-in-words": (
        csv_of("set,count,mb", "2 x ssd,2,5.1", "4 x ssd,4,6.1", "8 x hdd,8,7.1", "6 x hdd,16,9.1"),
        SERVERS,
    ),
    "unknown-instance": (csv_of("os,op,mb", "hi1.xlarge,read,5.1", "hi1.4xlarge,read,6.1"), columns(*RATE)),
    "row-twice": (csv_of("os,op,mb", "a,read,5.1", "a,read,5.2"), columns(*RATE)),
    "missing-combination": (grid("write,16"), GRID),
    "missing-cells": (sizes({}, frozenset({("write", 1024, 16)})), SIZES),
    "gap-in-series": (
        csv_of("job,usd", *(f"{job},{job * 7 % 5}" for job in range(64, 81) if job != 79)),
        figures("job: ignored", "usd: comment"),
    ),
    "cell-among-neighbours": (sizes({(1024, 16): "1011.50"}), SIZES),
    "figures-alike": (
        csv_of("os,op,gb,s", *(f"{name},read,11.3,9.67" for name in "abc"), "d,read,12.1,9.71"),
        columns("os: target", "op: operation", "gb: {role: throughput, unit: GB/s}", "s: {role: time, unit: s}"),
    ),
    "units-of-cells": (csv_of("os,op,mb", "a,read,5.1 MB/s", "b,read,6.1 MiB/s"), columns(*RATE[:2], "mb: throughput")),
    "spread-of-repeats": (csv_of("job,tasks,mb", *REPEATED, "8,64,9.8", "9,64,6.1"), REPEATS),
}
"""Rule -> a table that is wrong as it says, and its roles."""
RIGHT = {
    "latencies-in-order": (csv_of("name,p90 (ms),p99 (ms),max (ms)", "a,4.1,9.2,31", "b,5.2,11.2,11"), LATENCIES),
    "rows-with-figures-of-others": (
        csv_of("name,write MB/s,read MB/s,creates/s", "a,512.31,812.4,91223", "b,512.31,812.4,91224"),
        RATES,
    ),
    "count-of-columns": (
        csv_of("name,run 1,run 2,run 3,best of 3 runs", "a,1.52,2.51,3.53,3.53"),
        RUNS.replace("of 5", "of 3"),
    ),
    "price-of-book": (csv_of("name,price per hour", "d2.xlarge,0.735", "d2.2xlarge,1.47"), PRICES),
    "factor-of-trend": (csv_of("hosts,mb", "1,101.5", "2,190.2", "4,350.1", "8,610.3", "16,930.9"), SCALING),
    "derived-cell": (csv_of("name,usd,tb,each", "a,15.41,5,3.08", "b,15.12,12,1.26", "c,11.88,88,0.14"), COSTS),
    "bound-at-most-points": (csv_of("name,at,usd,tb,each", "a,64,10,5,>1", "a,128,10,5,>1", "b,256,20,5,>1"), POINTS),
    "unit-convention": (csv_of("name,gib,gb", "a,1100,1181.1", "b,2200,2362.2", "c,330,354.3"), POWERS),
    "stated-bound": (csv_of("name,usd,tb,each", "a,15.41,5,>3", "b,15.12,12,<=1.26", "c,1,0,<1"), BOUNDS),
    "bound-of-words": (csv_of("name,usd,tb,each", "a,15.41,5,>3?", "b,15.12,12,<=1.26?", "c,1,0,<1?"), BOUNDS),
    "another-formula": (
        csv_of("op,run1,run2,run3,mean", "read,101.2,105.5,131.8,112.8", "write,88.3,91.4,99.2,93.0", "reread,1,2,3,2"),
        MEANS,
    ),
    "summary-row": (csv_of("name,usd", "a,10.50", "b,20.25", "Total,30.75"), figures(ALL_IGNORED, "usd: {role: iops}")),
    "different-values": (csv_of("what,place,value", "a rate,figure 4,234", "a rate,section 9,234.4"), PLACES),
    "two-spellings": (
        csv_of("os,op,mb", "16 KB,read,5.1", "16 KB,write,4.2", "1-10,read,1", "11-0,read,1"),
        columns(*RATE),
    ),
    "count-of-range": (csv_of("ids,jobs", "1-5,5", "10-29,20", "51-95,45"), figures("ids: comment", "jobs: ignored")),
    "count-in-words": (
        csv_of("set,count,mb", "2 x ssd,2,5.1", "4 x ssd,4,6.1", "8 x hdd,8,7.1", "6 x hdd,6,9.1"),
        SERVERS,
    ),
    "unknown-instance": (csv_of("os,op,mb", "hi1.4xlarge,read,5.1", "zz9.large,read,6.1"), columns(*RATE)),
    "row-twice": (csv_of("os,op,mb", "a,read,5.1", "a,write,5.2"), columns(*RATE)),
    "missing-combination": (grid(), GRID),
    "missing-cells": (sizes({}), SIZES),
    "gap-in-series": (
        csv_of("job,usd", *(f"{job},{job * 7 % 5}" for job in range(64, 81))),
        figures("job: ignored", "usd: comment"),
    ),
    "figures-alike": (
        csv_of("os,op,gb,s", *(f"{name},read,11.{at},9.67" for at, name in enumerate("abcd"))),
        columns("os: target", "op: operation", "gb: {role: throughput, unit: GB/s}", "s: {role: time, unit: s}"),
    ),
    "units-of-cells": (csv_of("os,op,mb", "a,read,5.1 MB/s", "b,read,6.1 GB/s"), columns(*RATE[:2], "mb: throughput")),
    "spread-of-repeats": (csv_of("job,tasks,mb", *REPEATED, "8,64,9.8", "9,64,8.1"), REPEATS),
}
"""The same without the mistake."""


@pytest.mark.parametrize("rule", FALSE)
def test_what_is_wrong_in_a_table_is_found_by_its_rule_alone(rule: str) -> None:
    text, roles = FALSE[rule]
    assert {each.rule for each in found(text, roles)} == {rule}


@pytest.mark.parametrize("rule", RIGHT)
def test_what_is_right_in_a_table_is_not_found(rule: str) -> None:
    text, roles = RIGHT[rule]
    assert found(text, roles) == []


@pytest.mark.parametrize(
    ("heading", "right", "wrong"),
    [
        ("name,$/hour,$/month", ("a,0.192,140.16", "b,0.384,280.32", "c,1.008,735.84"), "d,0.768,552.96"),
        ("name,MB/s,GB/s", ("a,1180,1.18", "b,2344,2.34", "c,4655,4.66"), "d,9120,8.91"),
        ("name,Gbit/s,GB/s", ("a,9.41,1.18", "b,18.62,2.33", "c,70.11,8.76"), "d,36.90,3.69"),
        ("threads,time,speedup", ("1,812.4,1.00", "2,418.0,1.94", "4,221.7,3.66"), "8,120.3,5.76"),
    ],
)
def test_columns_in_another_unit_or_for_another_time_are_recomputed(
    heading: str, right: tuple[str, ...], wrong: str
) -> None:
    first, *others = heading.split(",")
    roles = figures(f"{first}: comment", *(f"{name}: ignored" for name in others))
    assert found(csv_of(heading, *right), roles) == []
    (finding,) = found(csv_of(heading, *right, wrong), roles)
    assert (finding.rule, finding.line, finding.result) == ("derived-cell", 5, others[-1])


def test_totals_of_groups_are_sums_where_the_same_column_has_another_sum() -> None:
    rows = ("site,host,TB,kW", "W,a,120,34", "W,b,88,27", "W,Total,208,61", "E,c,140,51", "E,d,95,19")
    assert found(csv_of(*rows, "E,Total,235,70"), TOTALS) == []
    (finding,) = found(csv_of(*rows, "E,Total,235,51"), TOTALS)
    assert (finding.rule, finding.line, finding.result) == ("summary-row", 7, "kW")
    # A total of totals is not that of the rows right above.
    assert found(csv_of(*rows, "E,Total,235,70", "Total,,443,131"), TOTALS) == []
    # What is no sum in any row, such as a price of one piece, is not known.
    assert found(csv_of("site,host,TB,kW", "W,a,120,3.5", "W,b,88,3.4", "W,c,14,3.9", "W,Total,222,1.2"), TOTALS) == []


def test_totals_count_the_pieces_of_lines_that_print_the_price_of_one() -> None:
    rows = ("item,pieces,usd", "Servers,,6000.00", "Cards,6,16.83", "Switch,,1899.00")
    roles = figures("item: comment", "pieces: ignored", "usd: {role: iops}")
    assert found(csv_of(*rows, "Total,,7999.98"), roles) == []
    (finding,) = found(csv_of(*rows, "Total,,8099.98"), roles)
    assert finding.rule == "summary-row"


def test_a_bound_over_points_says_at_how_many_it_holds() -> None:
    rows = ("name,at,usd,tb,each", "a,64,10,5,>1", "a,128,3,5,>1", "a,256,2,5,>1")
    (finding,) = found(csv_of(*rows), POINTS)
    assert finding.rule == "stated-bound"
    assert finding.plain == "A TB is dear: a: >1 holds at 1 of 3 points, not at 128 KiB (0.6), 256 KiB (0.4)"


def test_what_a_formula_assumes_makes_its_errors_warnings() -> None:
    assumed = COSTS.replace("formula: usd / tb", "formula: usd / tb, assumes: that all of it is used")
    assert assumed != COSTS
    (finding,) = found(FALSE["derived-cell"][0], assumed)
    assert finding.severity == "warning" and finding.plain.endswith("Assumed: that all of it is used")


def test_figures_have_no_rows_twice_unless_all_cells_are_the_same() -> None:
    roles = figures("os: target", "mb: {role: throughput, unit: MB/s}")
    assert found(csv_of("os,mb", "a,5.1", "a,5.2"), roles) == []
    assert [each.rule for each in found(csv_of("os,mb", "a,5.1", "a,5.1"), roles)] == ["row-twice"]


def test_a_table_without_roles_is_audited_by_its_headings(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text(
        csv_of("name,run 1,run 2,run 3,mean", "a,81.2,79.8,94.1,85.0", "b,76.4,77.1,76.0,76.5", "c,5,6,10,7")
    )
    assert audit(outputs_of(str(path), tmp_path)[0], MachineFacts()) == []
    path.write_text(
        path.read_text().replace("b,76.4,77.1,76.0,76.5", "b,76.4,77.1,76.0,67.5") + "d,33.1,34.2,35.9,34.4\n"
    )
    (finding,) = audit(outputs_of(str(path), tmp_path)[0], MachineFacts())
    assert (finding.rule, finding.line) == ("derived-cell", 3)


def test_every_rule_about_tables_has_a_false_case() -> None:
    assert {rule.id for rule in TABLE_RULES} == FALSE.keys()


REFUSED = {
    "usd /": "is no formula",
    "usd / power(tb)": "there is no function `power`",
    "usd / other": "there is no column `other`",
    "[usd]": "a formula has numbers",
    "usd" + " + usd" * 60: "too long",
}


@pytest.mark.parametrize("formula", REFUSED)
def test_formulas_that_cannot_be_computed_are_refused(formula: str) -> None:
    with pytest.raises((AssayError, OutputError)) as error:
        read(FALSE["derived-cell"][0], COSTS.replace("usd / tb", f'"{formula}"'))
    assert REFUSED[formula] in error.value.message and error.value.hint


def test_a_finding_has_the_formula_that_gives_what_is_printed() -> None:
    (unit,) = found(csv_of("name,usd,tb,each", "a,15.41,5,3.010", "b,15.12,12,1.2305"), COSTS)
    assert "as with 1000 for 1024" in unit.text
    roles = figures(
        "name: comment", "a: ignored", "b: ignored", "c: ignored", 'm: {role: derived, formula: "mean(a,b,c)"}'
    )
    (mean,) = found(csv_of("name,a,b,c,m", "x,1.5,2.5,9.5,2.5"), roles)
    assert "median(a, b, c) gives what is printed" in mean.text


def test_headings_between_backticks_and_other_tables(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text(csv_of("os,mb", "a,1.5", "a,4.5", "b,7.0"))
    (tmp_path / "best.csv").write_text(csv_of("os,Best MB/s", "a,4.5", "b,7.5"))
    formula = "{role: derived, formula: max(mb), table: all.csv, by: [os]}"
    (tmp_path / "best.roles.yaml").write_text(figures("os: comment", f"Best MB/s: {formula}"))
    outputs, *_ = outputs_of(str(tmp_path / "best.csv"), tmp_path)
    (wrong,) = audit(outputs, MachineFacts())
    assert (wrong.line, wrong.rule) == (3, "derived-cell") and "max(mb) is 7 in `b`" in wrong.text
    assert recomputed_cells(outputs) == (2, 1, 0)


@pytest.mark.parametrize("path", [*PASTED, *PAPERS], ids=lambda path: path.stem)
def test_pasted_tables_have_notes_at_most(path: Path) -> None:
    wrong = {"bowtie2": {"count-of-range"}, "beegfs-options": {"another-formula"}}
    rules = {each.rule for each in found(path.read_text(), roles_of(path).read_text()) if each.severity != "note"}
    assert rules == wrong.get(path.stem, set())


STATED = {
    "nfs-2016": (3, 5, 7, 9),
    "beegfs-2016": (3, 5, 7, 9),
    "aws-2012": (3, 5, 7, 9, 11),
    "aoe-2007": (3, 5, 7, 9, 11, 13, 15, 17),
    "powerscale-2020": (3, 5, 11, 15, *range(17, 48, 2)),
}
"""Paper -> lines of what it states otherwise elsewhere."""
KNOWN = (
    ("aoe-2007", "means", "unit-convention", "mb_s", 3),
    ("aoe-2007", "matrices", "missing-cells", "", 1),
    ("aoe-2007", "matrices", "cell-among-neighbours", "kb_per_s", 2096),
    ("aoe-2007", "matrices", "cell-among-neighbours", "kb_per_s", 2129),
    ("aoe-2007", "matrices", "cell-among-neighbours", "kb_per_s", 2139),
    ("aoe-2007", "matrices", "cell-among-neighbours", "kb_per_s", 2692),
    ("aoe-2007", "matrices", "cell-among-neighbours", "kb_per_s", 3398),
    ("aoe-2007", "matrices", "cell-among-neighbours", "kb_per_s", 3407),
    ("aoe-2007", "matrices", "cell-among-neighbours", "kb_per_s", 3433),
    *(("aoe-2007", "matrices", "cell-among-neighbours", "kb_per_s", line) for line in (2684, 2726, 3421, 3427)),
    ("aws-2012", "best-rates", "unknown-instance", "instance", 38),
    ("beegfs-2016", "options", "derived-cell", "usd_hour_per_gb_s_write", 2),
    ("beegfs-2016", "options", "cut-off", "usd_hour", 2),
    ("beegfs-2016", "scaling", "missing-combination", "clients", 10),
    ("nfs-2016", "logs", "derived-cell", "avg_kb_s", 8),
    ("nfs-2016", "logs", "derived-cell", "avg_kb_s", 9),
    ("nfs-2016", "summary", "unit-convention", "mb_s", 2),
    ("nfs-2016", "logs", "cut-off", "avg_kb_s", 21),
    ("nfs-2016", "summary", "cut-off", "mb_s", 2),
    ("powerscale-2020", "fsx", "derived-cell", "throughput_mb_s", 3),
    ("powerscale-2020", "synciq", "unit-convention", "rate_mbit_s", 2),
    ("powerscale-2020", "bowtie2", "count-of-range", "job_ids", 4),
    ("powerscale-2020", "iperf", "figures-alike", "gbytes", 8),
    ("powerscale-2020", "render-jobs", "gap-in-series", "job", 17),
    ("powerscale-2020", "render-jobs", "spread-of-repeats", "wall_clock_min", 5),
    ("powerscale-2020", "render-jobs", "spread-of-repeats", "throughput_gbit_s", 4),
    ("nfs-2016", "claims", "derived-cell", "least that a process moved in GiB", 2),
    ("aws-2012", "claims", "stated-bound", "m2.xlarge over m1.small, writing to local disks", 2),
    ("aws-2012", "claims", "stated-bound", "m2.xlarge over m1.large, reading from local disks", 2),
    ("aws-2012", "claims", "stated-bound", "m2.4xlarge over m1.xlarge, reading from local disks", 2),
    *(
        (
            "beegfs-2016",
            "claims",
            "bound-of-words",
            f"growth of {what} from 8 to 16 clients of option 1, over that of clients",
            2,
        )
        for what in ("writing", "reading")
    ),
    *(("aoe-2007", "large-records", "derived-cell", "mb_s", line) for line in (2, 3)),
    ("nfs-2016", "cost-pairs", "bound-of-words", "cost_of_a_tb", 2),
    ("aoe-2007", "comparisons", "stated-bound", "aoe_over_dasd", 2),
    ("aoe-2007", "comparisons", "bound-at-most-points", "aoe_over_dasd", 16),
    *(("aoe-2007", "comparisons", "bound-at-most-points", "aoe_over_nfs", line) for line in (12, 16)),
    *(("aoe-2007", "comparisons", "bound-of-words", "aoe_over_nfs", line) for line in (43, 60)),
    *(("aoe-2007", "comparisons", "bound-of-words", "aoe_over_dasd", line) for line in (30, 69)),
    *(("aoe-2007", "knee", "bound-of-words", "rate_256_over_64", line) for line in (2, 13, 24)),
    *(("aoe-2007", "falls", "stated-bound", "rate_16384_over_4", line) for line in (2, 3, 4)),
    ("aoe-2007", "links", "bound-of-words", "mb_s", 2),
    ("aws-2012", "claims", "bound-of-words", "greatest over least reading of local disks, of hard disks", 2),
    ("aws-2012", "claims", "bound-of-words", "local disks over EBS on c1.medium, writing", 2),
    ("aws-2012", "claims", "bound-of-words", "local disks over EBS on c1.medium, reading", 2),
    (
        "powerscale-2020",
        "claims",
        "bound-of-words",
        "rate called not saturated in section 4.2, over that called saturated in 2.3.1",
        2,
    ),
    *(("aoe-2007", "rewrites", "stated-bound", "rewrite_over_write", line) for line in (2, 3)),
    *(("powerscale-2020", "steady-rates", "derived-cell", "steady_gbit_s", line) for line in (3, 4)),
    *((paper, "statements", "different-values", "value", line) for paper, lines in STATED.items() for line in lines),
)
"""Paper, table, rule, column and line of each finding about the tables of five papers."""


def test_tables_of_papers_have_these_findings_and_no_others() -> None:
    """Each was compared with what a pocket calculator gives; the list keeps others from being found."""
    seen = Counter()
    for folder in sorted(path for path in STUDIES.iterdir() if path.is_dir()):
        outputs, unread, _ = outputs_of(str(folder), Path("none"))
        names = {Path(each.message.partition(":")[0]).name for each in unread}
        assert names <= {"README.md", "PAPER.yaml", "need.yaml", "facts.yaml"}
        of_tables = {rule.id for rule in TABLE_RULES}
        for each in audit(outputs, MachineFacts()):
            if each.rule in of_tables:
                seen[folder.name, Path(each.file).stem, each.rule, each.result, each.line] += 1
    assert seen == Counter(dict.fromkeys(KNOWN, 1))


def test_a_table_of_logs_of_iozone_has_the_findings_of_the_logs() -> None:
    outputs, *_ = outputs_of(str(STUDIES / "nfs-2016" / "logs.csv"), Path("none"))
    assert len(outputs) == 16 and sum(len(output.results) for output in outputs) == 32
    rules = Counter(each.rule for each in audit(outputs, MachineFacts()) if each.severity != "note")
    of_logs = {"whole-records": 6, "stop-of-the-fastest": 6, "sum-of-processes": 2, "constant-multiple": 4}
    of_logs |= {
        "test-that-was-chosen": 2,
        "label-of-iozone": 3,
        "digits-alike": 1,
        "began-too-early": 3,
        "same-second": 1,
    }
    assert rules - Counter(of_logs) == Counter({"derived-cell": 2, "cut-off": 1})
    assert Counter(of_logs) - rules == Counter()


@pytest.mark.parametrize("tool", ["iozone", "iozone 3.420"])
def test_the_rules_of_a_tool_are_for_a_table_that_states_its_version_too(tool: str) -> None:
    roles = columns("op: operation", "ran: command", "test: label", "mb: {role: throughput, unit: MB/s}")
    roles = roles.replace("columns:", f"tool: {tool}\ncolumns:")
    outputs = read(csv_of("op,ran,test,mb", "write,iozone -a -i 1,write,5.1"), roles)
    assert f"{outputs[0].file.tool} {outputs[0].file.version}".strip() == tool
    assert "test-that-was-chosen" in {each.rule for each in audit(outputs, MachineFacts())}


@pytest.mark.parametrize(
    ("one", "two", "is_same"),
    [("7hr 40m", "7 hr 40 min", True), ("7hr 42m", "7 hr 45 min", False), ("10 Gb/s", "10 GB/s", False)],
)
def test_texts_that_say_the_same_time_are_not_different(one: str, two: str, is_same: bool) -> None:
    assert (found(csv_of("what,place,value", f"wall clock,table,{one}", f"wall clock,text,{two}"), PLACES) == []) is (
        is_same
    )


def test_whole_numbers_that_are_too_many_for_chance_are_rounded_ones() -> None:
    """Prices of a month in dollars stand among others in cents: a year is twelve times what was not printed."""
    roles = figures(
        ALL_IGNORED, "month: {role: derived, formula: year / 12}", "year: {role: derived, formula: month * 12}"
    )
    cents = [
        f"{name},{price:.2f},{price * 12:.2f}"
        for name, price in zip(
            "efghijkl", (136.82, 336.31, 586.47, 223.64, 423.19, 673.73, 398.02, 598.56), strict=True
        )
    ]
    dollars = ["a,536,6435", "b,1073,12870", "c,2145,25740"]
    assert found(csv_of("name,month,year", *dollars, *cents), roles) == []
    # One such number may have had zeros at its end.
    assert found(csv_of("name,month,year", dollars[0], *cents), roles) != []


def test_the_nearest_of_two_mistaken_units_is_named() -> None:
    roles = figures(ALL_IGNORED, "raw: ignored", "usable: {role: derived, formula: raw}")
    (wrong,) = found(csv_of("name,raw,usable", "a,12,10.9", "b,24,21.8", "c,48,43.7"), roles)
    assert "as with 10^12 for 2^40" in wrong.text


def test_a_heading_names_another_column_only_with_all_that_tells_it_apart() -> None:
    head = "name,usd per hour,read gb,write gb,usd per tb hour printed,tb,usd per write gb hour printed"
    rows = ("a,15.41,7.65,6.81,3.08,5,2.01", "b,15.12,2.40,2.34,1.26,12,6.30", "c,11.88,2.41,2.20,0.14,88,4.93")
    names = head.split(",")
    (wrong,) = found(csv_of(head, *rows), figures("name: comment", *(f"{name}: ignored" for name in names[1:])))
    assert wrong.rule == "another-formula" and wrong.result == names[-1]
    assert "the heading says `write gb` in place of `read gb`" in wrong.text


CLIENTS = columns(
    "hosts: hosts",
    "mb: {role: throughput, unit: MB/s}",
    head=("with: {operation: read, target: a, file_size: 10GiB, lanes: 1, cache: CACHE}",),
)


def by_facts(rows: tuple[str, ...], cache: str = "keep") -> list[AuditFinding]:
    facts = MachineFacts.model_validate({"memory": "60GiB", "link": "1Gb/s"})
    outputs = read(csv_of("hosts,mb", *rows), CLIENTS.replace("CACHE", cache))
    return [each for each in audit(outputs, facts) if each.severity != "note"]


def test_hosts_that_a_table_states_are_the_clients_of_the_facts() -> None:
    assert {each.rule for each in by_facts(("2,251.5",))} == {"above-network", "data-within-memory"}
    assert {each.rule for each in by_facts(("4,251.5",))} == {"data-within-memory"}
    assert by_facts(("4,251.5",), "drop") == []
    (memory,) = by_facts(("4,251.5",))
    assert memory.text.startswith("40GiB of data are less than twice the clients' memory, 240GiB")


def test_many_results_above_one_limit_are_one_finding() -> None:
    outputs = read(
        csv_of("file,mb", *(f"{1024 << step},{200 + step}.5" for step in range(5))),
        columns(
            "file: {role: file_size, unit: KiB}",
            "mb: {role: throughput, unit: MB/s}",
            head=("with: {operation: read, target: a, lanes: 1}",),
        ),
    )
    facts = MachineFacts.model_validate({"clients": 1, "memory": "1GiB", "link": "1Gb/s"})
    above, within = [each for each in audit(outputs, facts) if each.severity != "note"]
    assert (
        above.text == "5 results of a read are more than the links of one client carry, 125 MB/s, the greatest 204 MB/s"
    )
    assert within.text.startswith("5 results of a read are of 1MiB to 16MiB of data, less than twice")
    assert len(above.others) == len(within.others) == 4


@pytest.mark.parametrize(("value", "is_far"), [("321.50", True), ("295.5", False), ("24.5", True), ("40.5", False)])
def test_a_cell_is_far_from_neighbours_that_differ_less(value: str, is_far: bool) -> None:
    """The neighbours are 100.68 to 102.21."""
    assert any(each.rule == "cell-among-neighbours" for each in found(sizes({(1024, 16): value}), SIZES)) is is_far


def test_neighbours_on_both_sides_of_an_edge_are_not_alike() -> None:
    edge = {(512, 16): "20.5", (1024, 4): "22.5", (1024, 64): "81.5", (2048, 16): "90.5"}
    assert found(sizes({**edge, (1024, 16): "301.5"}), SIZES) == []


def test_a_table_of_logs_without_roles_has_the_findings_of_the_logs(tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    path.write_bytes((GOLDEN / "imports" / "iozone" / "eight-clients.csv").read_bytes())
    outputs = outputs_of(str(path), tmp_path).outputs
    assert len(outputs) == 16 and {one.file.tool for one in outputs} == {"iozone"}
    rules = Counter(each.rule for each in audit(outputs, MachineFacts()))
    assert (rules["whole-records"], rules["test-that-was-chosen"], rules["constant-multiple"]) == (6, 2, 4)
    # Without one of the five figures it is a table like others.
    path.write_text(path.read_text().replace("min_xfer_kb", "least"))
    assert {one.file.tool for one in outputs_of(str(path), tmp_path).outputs} == {table.NAME}


@pytest.mark.parametrize(("rate", "is_above"), [("240", False), ("250.1", False), ("260", True)])
def test_a_mix_without_counts_uses_both_ways_of_a_link(rate: str, is_above: bool) -> None:
    roles = columns("os: target", "mb: {role: throughput, unit: MB/s}", head=("with: {operation: file_mix}",))
    outputs = read(csv_of("os,mb", f"a,{rate}"), roles)
    found = audit(outputs, MachineFacts.model_validate({"server_link": "1Gb/s"}))
    assert any(each.rule == "above-network" for each in found) is is_above


CLAIMS = columns("disk: target", "op: operation", "size: ignored", "mb: {role: throughput, unit: MB/s}")


@pytest.mark.parametrize(
    ("formula", "computed"),
    [
        ('max(mb, table="rates.csv", disk="a") / max(mb, table="rates.csv", disk="b")', "2.00"),
        ('sum(mb, table="rates.csv", size=">64")', "90.0"),
        ('sum(mb, table="rates.csv", size="<=64")', "30.0"),
        ('count(mb, table="rates.csv", disk="b", size=">=64")', "2.00"),
    ],
)
def test_functions_choose_the_rows_of_another_table(formula: str, computed: str, tmp_path: Path) -> None:
    (tmp_path / "rates.csv").write_text(
        csv_of("disk,op,size,mb", "a,read,64,20.0", "a,read,256,60.0", "b,read,64,10.0", "b,read,512,30.0")
    )
    (tmp_path / "rates.roles.yaml").write_text(CLAIMS)
    (tmp_path / "claims.csv").write_text(csv_of("where,what", "page 7,>1000"))
    (tmp_path / "claims.roles.yaml").write_text(
        figures("where: comment", f"what: {{role: derived, formula: '{formula}'}}")
    )
    outputs, *_ = outputs_of(str(tmp_path), Path("none"))
    (bound,) = (each for each in audit(outputs, MachineFacts()) if each.rule == "stated-bound")
    assert (bound.numbers["computed"], bound.numbers["stated"]) == (computed, ">1000") and "page 7" in bound.text


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ('max(mb, disk="a")', "conditions choose rows of another table"),
        ('max(mb, table="rates.csv", host="a")', "there is no column `host`"),
        ('max(mb, table="none.csv")', "none.csv"),
    ],
)
def test_conditions_that_choose_nothing_are_refused(formula: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "rates.csv").write_text(csv_of("disk,mb", "a,20.0"))
    (tmp_path / "claims.csv").write_text(csv_of("where,mb,what", "page 7,2.0,<1"))
    roles = figures("where: comment", "mb: ignored", f"what: {{role: derived, formula: '{formula}'}}")
    (tmp_path / "claims.roles.yaml").write_text(roles)
    with pytest.raises((OutputError, AssayError), match=message):
        outputs_of(str(tmp_path / "claims.csv"), Path("none"))


@pytest.mark.parametrize("formula", ['floor(mb, disk="a")', "max(mb, disk=1)", "max(mb, **disk)"])
def test_conditions_that_are_none_are_refused(formula: str) -> None:
    with pytest.raises(AssayError, match="condition that is none"):
        parse_roles(figures("mb: ignored", f"what: {{role: derived, formula: '{formula}'}}").encode(), "r.yaml")
