"""All rules of the audit, and what they find."""

from collections.abc import Sequence

from assay.rooms.importers.audit import (
    ceilings,
    database_rules,
    fio_rules,
    ior_rules,
    iozone_rules,
    method,
    network_rules,
    one_result,
    printed_rules,
    several,
)
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import SEVERITIES, AuditFinding, Item, Rule, RuleFinding
from assay.rooms.importers.audit.tables.rules import audit_tables
from assay.rooms.importers.work.results import ToolOutput

RULES: tuple[Rule, ...] = (
    Rule(
        "latency-order",
        "error",
        "Latencies are not in order: least, percentiles, greatest, or the mean is outside of them.",
        "order statistics; at the ends the width of bins is allowed: 2 %, of elbencho 19 %",
        one_result.latency_order,
    ),
    Rule(
        "percentiles-in-order",
        "error",
        "A higher percentile is smaller than a lower one, or differs from it where one latency is both.",
        "order statistics: the percentile p of N latencies is that of rank p x N / 100, rounded up",
        fio_rules.percentiles_in_order,
    ),
    Rule(
        "rate-from-bytes",
        "error",
        "The rate is not what bytes, or operations, and time give.",
        "rate = amount / time, within 2 % and the rounding of the time",
        one_result.rate_from_bytes,
    ),
    Rule(
        "operations-in-flight",
        "error",
        "More operations of a fio job were in flight than were asked for.",
        "Little's law: rate x mean latency is at most queue depth x processes; 5 % are allowed",
        fio_rules.operations_in_flight,
    ),
    Rule(
        "transactions-in-flight",
        "error",
        "More transactions were in flight than there were clients.",
        "Little's law: rate x mean latency is at most the number of clients; 5 % are allowed",
        database_rules.transactions_in_flight,
    ),
    Rule(
        "operations-of-a-run",
        "error",
        "The operations that YCSB lists are not its rate by its time.",
        "Client.java divides the operations of all threads by the time; 1 % is allowed",
        database_rules.operations_of_a_run,
    ),
    Rule(
        "time-of-transactions",
        "error",
        "Transactions and rate of pgbench are of another time than `-T`.",
        "pgbench.c starts no transaction behind `-T`; 1 %, and at the end a few transactions, are allowed",
        database_rules.time_of_transactions,
    ),
    Rule(
        "whole-records",
        "error",
        "What a process of iozone moved is no whole number of records.",
        "iozone.c counts records and multiplies by their size",
        iozone_rules.whole_records,
    ),
    Rule(
        "sum-of-processes",
        "error",
        "Sum, mean, least and greatest rate of iozone's processes, and what the parent saw, do not fit each other.",
        "arithmetic, within the printed rounding",
        iozone_rules.sum_of_processes,
    ),
    Rule(
        "stop-of-the-fastest",
        "error",
        "In a reading test of iozone the least amount does not follow from the rates.",
        "iozone.c, stop_flag: all stop when the first has read its file; without `-x`, from 5 s on, within 1 %",
        iozone_rules.stop_of_the_fastest,
    ),
    Rule(
        "label-of-iozone",
        "warning",
        "A test has a label that iozone does not print.",
        "iozone.c, multi_throughput_test",
        iozone_rules.label_of_iozone,
    ),
    Rule(
        "test-that-was-chosen",
        "error",
        "The command line of iozone did not ask for this test.",
        "iozone's usage text: `-i` chooses the tests",
        iozone_rules.test_that_was_chosen,
    ),
    Rule(
        "options-of-command",
        "error",
        "An output of iozone's throughput mode says another size, number of processes or option than its command line.",
        "iozone.c prints a line for each option that it takes from its command line",
        iozone_rules.options_of_command,
    ),
    Rule(
        "unit-of-rates",
        "error",
        "The command line of iozone asks for another unit than the output says.",
        "iozone's usage text: `-O` are operations, `-N` microseconds",
        iozone_rules.unit_of_rates,
    ),
    Rule(
        "excel-report",
        "error",
        "A cell of iozone's table is another number in the report below it (`-R`).",
        "iozone prints both from the same numbers",
        iozone_rules.excel_report,
    ),
    Rule(
        "rate-of-operations",
        "error",
        "Bytes a second of a fio job are not operations a second times the size of an operation.",
        "both rates are over the same time; 2 % are allowed",
        fio_rules.rate_of_operations,
    ),
    Rule(
        "share-of-reads",
        "warning",
        "A fio job read another share than `rwmixread` says.",
        "binomial distribution: 5 standard deviations, and 5 % at least",
        fio_rules.share_of_reads,
    ),
    Rule(
        "mean-of-bins",
        "error",
        "The bins of latencies (`json+`) hold another number, or have another mean, than fio prints.",
        "one latency for each operation; bins are up to 1/64 wide",
        fio_rules.mean_of_bins,
    ),
    Rule(
        "percentiles-of-bins",
        "error",
        "A percentile is not that of the bins of latencies (`json+`).",
        "fio computes both from one table",
        fio_rules.percentiles_of_bins,
    ),
    Rule(
        "one-rate-in-two-units",
        "error",
        "`bw` of a fio job is not its `bw_bytes`.",
        "fio prints one rate twice, in KiB and in bytes",
        fio_rules.one_rate_in_two_units,
    ),
    Rule(
        "jobs-of-a-group",
        "warning",
        "fio lists some processes of a job by themselves, but not as many as `numjobs` says.",
        "without group_reporting each process is listed",
        fio_rules.jobs_of_a_group,
    ),
    Rule(
        "directions-alike",
        "error",
        "Reads and writes of a fio job have the same mean and deviation of latency, digit by digit.",
        "two measurements do not agree so",
        fio_rules.directions_alike,
    ),
    Rule(
        "bytes-of-operations",
        "error",
        "Operations of a fio job moved another size each than its `bs`.",
        "bytes = operations x bs; not where fio printed the options of one of several jobs",
        fio_rules.bytes_of_operations,
    ),
    Rule(
        "amount-of-data",
        "warning",
        "A fio job moved another amount than its `size`, though no option ends it otherwise.",
        "fio's documentation of size: the job moves so many bytes in total",
        fio_rules.amount_of_data,
    ),
    Rule(
        "missing-iteration",
        "error",
        "An operation of IOR lacks an iteration that another one of the same output has.",
        "IOR runs all operations in each iteration",
        ior_rules.missing_iteration,
    ),
    Rule(
        "summary-of-rows",
        "error",
        "IOR's summary is not the greatest, least or mean rate of its rows.",
        "arithmetic, within the printed rounding",
        ior_rules.summary_of_rows,
    ),
    Rule(
        "one-size-of-all",
        "error",
        "Bytes and operations a second of IOR's summary are of other sizes in writing and in reading.",
        "both move the same file in the same operations; 1 % is allowed",
        ior_rules.one_size_of_all,
    ),
    Rule(
        "rate-of-transfer",
        "error",
        "The rate of a row of iperf is not its transfer over its time.",
        "arithmetic, within the printed rounding and 1 %; not of rows below a second",
        network_rules.rate_of_transfer,
    ),
    Rule(
        "sum-of-streams",
        "error",
        "The sum of iperf's streams is not what they moved together.",
        "arithmetic, within the printed rounding and 0.1 %",
        network_rules.sum_of_streams,
    ),
    Rule(
        "loss-from-packets",
        "error",
        "The share of lost packets does not follow from the packets that were sent and received.",
        "arithmetic; tools print two digits, or cut off decimals",
        network_rules.loss_from_packets,
    ),
    Rule(
        "received-above-sent",
        "error",
        "More was received than was sent.",
        "what was not sent cannot arrive; 2 % are allowed, since the two sides end at different times",
        network_rules.received_above_sent,
    ),
    Rule(
        "rounded-figures",
        "warning",
        "All rates of an output are multiples of a hundred.",
        "tools print what they computed; eight such rates by chance: 1e-16",
        one_result.rounded_figures,
    ),
    Rule(
        "weekday",
        "error",
        "The date of an output has another day of the week than the calendar.",
        "ctime prints both from one number",
        iozone_rules.weekday,
    ),
    Rule(
        "record-above-file",
        "warning",
        "A record is larger than the file.",
        "the tool then reads or writes less than is stated",
        one_result.record_above_file,
    ),
    Rule(
        "same-file",
        "error",
        "Two files are the same, byte by byte.",
        "two measurements do not print the same",
        several.same_file,
    ),
    Rule(
        "same-figures",
        "error",
        "All figures of two results are the same, digit by digit.",
        "two measurements do not agree in five figures of five digits or more",
        several.same_figures,
    ),
    Rule(
        "constant-multiple",
        "error",
        "All five figures of a test of iozone are one multiple of another test's.",
        "ratios of independent measurements differ; 0.02 % are allowed for rounding",
        several.constant_multiple,
    ),
    Rule(
        "digits-alike",
        "warning",
        "Figures of a test of iozone have more digits in common with another test's than chance gives.",
        "binomial distribution, a tenth for each digit behind the first two; below 1e-5 over all pairs",
        several.digits_alike,
    ),
    Rule(
        "rows-in-order",
        "warning",
        "A row of iozone's automatic mode stands before one that comes first.",
        "iozone.c, auto_test: sizes of files rise, and in each of records",
        several.rows_in_order,
    ),
    Rule(
        "same-second",
        "warning",
        "Two distributed runs of iozone state that they began in the same second.",
        "one list of clients runs one test at a time",
        several.same_second,
    ),
    Rule(
        "began-too-early",
        "warning",
        "A run of iozone began before another one on the same clients can have ended, by the rates of that one.",
        "a test takes at least file size / greatest rate of a process",
        several.began_too_early,
    ),
    *printed_rules.PRINTED_RULES,
    Rule(
        "above-network",
        "error",
        "A rate is above what the links carry (facts: `link`, `clients`, `client`, `server_link`).",
        "each way of a link by itself",
        ceilings.above_network,
    ),
    Rule(
        "above-devices",
        "warning",
        "A rate is above what the devices can do (facts: `device_read`, `device_write`).",
        "a cache answered, or the facts are wrong",
        ceilings.above_devices,
    ),
    Rule(
        "data-within-memory",
        "warning",
        "Buffered reads of less data than twice the clients' memory (facts: `memory`, `clients`, `client`).",
        "iozone's documentation asks for files larger than memory; twice is usual",
        ceilings.data_within_memory,
    ),
    Rule(
        "failed",
        "note",
        "The tool reports errors.",
        "a rate with failed operations is none of the storage",
        method.failed,
    ),
    Rule(
        "marked-invalid",
        "note",
        "IO500 marks phases as invalid.",
        "the rules of IO500: such a result does not count; phases that write must take 300 s",
        method.marked_invalid,
    ),
    Rule(
        "writes-unflushed",
        "note",
        "Writes through the page cache without a flush in the time.",
        "what is in memory at the end was not written",
        method.writes_unflushed,
    ),
    Rule(
        "zeros-written",
        "note",
        "Only zeros were written (dd from `/dev/zero`).",
        "file systems and devices that compress, or detect zeros, do not store them",
        method.zeros_written,
    ),
    Rule(
        "asynchronous-without-direct",
        "note",
        "fio's libaio with a queue and without direct I/O.",
        "fio's documentation of libaio: a queue may work without the page cache only",
        method.asynchronous_without_direct,
    ),
    Rule(
        "datagrams-lost",
        "note",
        "More than 1 % of the datagrams of UDP were lost.",
        "a network carries what is received, not what is sent",
        network_rules.datagrams_lost,
    ),
    Rule(
        "udp-as-sent",
        "note",
        "The rate of UDP is that of what was sent.",
        "without the receiver's figures it is not known what arrived",
        network_rules.udp_as_sent,
    ),
    Rule(
        "sum-of-both-ways",
        "note",
        "A row of sums of iperf adds both ways of a link.",
        "each way of a link by itself; iperf 2.1 and later print it with -d and --full-duplex",
        network_rules.sum_of_both_ways,
    ),
    Rule(
        "short-time",
        "note",
        "Results took less than 10 s.",
        "a start or a hiccup weighs in the mean",
        method.short_time,
    ),
    Rule(
        "few-repeats",
        "note",
        "Results of one operation that differ in something else have fewer than three repeats.",
        "no interval follows from one or two values",
        method.few_repeats,
    ),
)
"""In the order in which they are documented."""


def audit(outputs: Sequence[ToolOutput], facts: MachineFacts) -> list[AuditFinding]:
    """Return all findings about outputs that belong together, the worst first.

    Args:
        outputs: Of any tools.
        facts: What is known of the machines; it stands before what an output itself has of them.
    """
    items = [Item(output, result) for output in outputs for result in output.results]
    copies = several.copies(items)
    found = [
        _finding(rule, each)
        for rule in RULES
        for each in rule.find(items, facts)
        if rule.id == "same-file" or id(each.item.output) not in copies
    ]
    return sorted([*found, *audit_tables(outputs)], key=lambda finding: SEVERITIES.index(finding.severity))


def _finding(rule: Rule, found: RuleFinding) -> AuditFinding:
    others = tuple(dict.fromkeys(other.place for other in found.others if other.place != found.item.place))
    return AuditFinding(
        rule=rule.id,
        severity=rule.severity,
        file=found.item.output.file.file,
        line=found.item.line,
        result="" if rule.severity == "note" and found.others else found.item.result.name,
        text=found.text,
        numbers={name: str(value) for name, value in found.numbers.items()},
        others=others,
    )
