"""What `assay price` says to people."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from assay.cli.money.price_data import METRICS, MOST_COMPARED
from assay.cli.output import print_table, say
from assay.model.money import amount as amounts
from assay.model.money.amount import EXACT, rounded, total
from assay.model.money.price import UNITS
from assay.model.units import about_duration, about_size
from assay.money.advice.words import counted
from assay.money.cost.metrics import OnTerm, Option, Pair, compare

if TYPE_CHECKING:
    from assay.money.cost.cost import Charge, Cost
    from assay.money.cost.limits import Metric

_NAMES = {"read": "read", "write": "write", "read_iops": "read ops", "write_iops": "write ops"}


def money(amount: Decimal | None, currency: str = "") -> str:
    """As `assay.model.money.amount.money`; nothing for None."""
    return "" if amount is None else amounts.money(amount, currency)


def print_options(options: Sequence[Option], months: int | None, bill: bool) -> None:
    """Each design alone, or several in a table, and where they meet."""
    if len(options) == 1:
        _alone(options[0], months)
    else:
        labels = _labels(options)
        _side_by_side(options, labels, months)
    if bill:
        for option in options:
            _bill(option, titled=len(options) > 1)
    if len(options) == 1:
        _terms(options[0])
    elif len(options) <= MOST_COMPARED:
        say("Where designs meet:")
        names = {option.label: label for option, label in zip(options, labels, strict=True)}
        _meet([pair.renamed(names) for pair in compare(options)])
        losing = [label for option, label in zip(options, labels, strict=True) if option.loses_when_off]
        if losing:
            say(f"The data goes when it is switched off: {', '.join(losing)}")
    else:
        say(f"Where designs meet is worked out for up to {MOST_COMPARED} of them.")


def _alone(option: Option, months: int | None) -> None:
    cost, limits, currency = option.cost, option.limits, option.cost.currency
    hour = f"{money(cost.hour)} an hour, " if cost.duty else ""
    lines = [
        ("design", option.label),
        ("", option.design.about),
        ("prices", prices_words(option)),
        (
            "cost",
            f"{hour}{money(cost.month)} a month, {money(cost.year)} a year, "
            f"{money(cost.three_years)} in three years ({currency})",
        ),
    ]
    if cost.duty != 1:
        hours = EXACT.multiply(cost.duty, cost.hours_per_month)
        lines.append(("on", f"{percent(cost.duty)} of the time, {rounded(hours, 1):f} hours of a month"))
        if option.loses_when_off:
            lines.append(("", "its data goes each time it is switched off"))
    if option.by_use:
        lines.append(("of it", f"{money(option.by_use, currency)} a month for transfer, requests and access"))
    if months is not None:
        lines.append(("paid", f"{money(cost.paid(months), currency)} after {counted(months, 'month')}"))
    lines += [
        ("usable", f"{about_size(limits.usable)} ({limits.how_usable})"),
        ("", f"{money(option.per_tb_month, currency)} for each usable TB and month"),
        *_limits(option),
        *_job(option),
        ("keeps", f"{option.design.durability}; fails together: {option.design.failure_domain}"),
        *(("note", text) for text in option.design.notes),
    ]
    for name, text in lines:
        say(f"{name:<10}{text}".rstrip())


def prices_words(option: Option) -> str:
    """Which book and term."""
    book, cost = option.book, option.cost
    payments = sorted({charge.row.payment for charge in cost.charges if charge.row.payment})
    term = ", ".join([cost.term, *payments])
    return f"{book.book} of {book.date}, {cost.hours_per_month} hours a month, {term}"


def _limits(option: Option) -> list[tuple[str, str]]:
    """Of each metric; how a layer's limit comes about, only once."""
    lines: list[tuple[str, str]] = []
    told: set[str] = set()
    for metric in METRICS:
        binding = option.limits.binding(metric)
        name = _NAMES[metric]
        for text in _limit(option, metric):
            lines.append((name, text))
            name = ""
        if binding is not None and binding.how and binding.layer not in told:
            told.add(binding.layer)
            lines.append(("", f"  {binding.layer}: {binding.how}"))
    return lines


def _limit(option: Option, metric: "Metric") -> list[str]:
    limits, currency = option.limits, option.cost.currency
    binding, keeps = limits.binding(metric), limits.sustained(metric)
    if binding is None or keeps is None:
        unknown = ", ".join(layer.layer for layer in limits.layers)
        return [f"not known of {unknown or 'any layer'}; measure it"]
    words = f"{rate(keeps, metric)} sustained, bound by {binding.layer}"
    more = limits.burst(metric)
    if more is not None:
        lasts = about_duration(more[1]) if more[1] else "a while, how long is not published"
        words += f"; {rate(more[0], metric)} for {lasts}"
    per = (
        f"{money(option.per_gbs_month(metric), currency)} for each GB/s and month"
        if metric in ("read", "write")
        else f"{money(option.per_kiops_month(metric), currency)} for each 1,000 IOPS and month"
    )
    silent = [layer.layer for layer in limits.layers if layer.keeps(metric) is None and metric in ("read", "write")]
    extra = [f"not known of {', '.join(silent)}"] if silent else []
    return [words, *(f"  {text}" for text in (per, *extra))]


def rate(value: float, metric: "Metric") -> str:
    """With its unit."""
    return f"{about_size(value)}/s" if metric in ("read", "write") else f"{value:,.0f} IOPS"


def _job(option: Option) -> list[tuple[str, str]]:
    job, currency = option.job, option.cost.currency
    if job is None:
        return []
    hours = f"{rounded(job.hours, 2):f} h" + (" at the rate that it keeps" if job.by_rate else "")
    if job.expected is None:
        return [("job", f"{hours}; its cost is not known, since the book does not say how often spot is interrupted")]
    words = f"{money(job.money, currency)} in {hours}"
    if job.expected != job.hours:
        words = (
            f"{money(job.money, currency)}: {rounded(job.expected, 2):f} h expected for {hours}, since an interrupted "
            f"job starts again; that costs {money(job.interrupted, currency)}"
        )
    if job.per_tb is not None:
        words += f"; {money(job.per_tb, currency)} for each TB"
    lines = [("job", words)]
    if job.needs is not None:
        lines.append(("", f"  its bytes in that time need {rate(float(job.needs), 'read')}"))
    return lines + [("", f"  {text}") for text in exceeded(option)]


def exceeded(option: Option) -> list[str]:
    """What a design cannot do of its job."""
    job, limits = option.job, option.limits
    if job is None or not job.exceeds:
        return []
    keeps = [
        f"{rate(limits.sustained(metric) or 0, metric)} of {_NAMES[metric].removesuffix('e')}ing"
        for metric in METRICS[:2]
        if metric in job.exceeds
    ]
    found = [f"that is more than it keeps: {', '.join(keeps)}"] if keeps else []
    if "capacity" in job.exceeds:
        found.append(f"its {about_size(option.use.job_bytes)} are more than the {about_size(limits.usable)} for data")
    return found


def _side_by_side(options: Sequence[Option], labels: Sequence[str], months: int | None) -> None:
    same = {prices_words(option) for option in options}
    say(f"Prices in {options[0].cost.currency}: {'; '.join(sorted(same))}")
    shared = _shared(options)
    if shared:
        say(f"All are {options[0].chosen.design} with {' '.join(f'{key}={shared[key]}' for key in shared)}")
    headings = ["design", "an hour", "a month", "a year", "three years", "usable", "TB-month", "read", "write"]
    headings += ["GB/s read", "GB/s write"]
    with_iops = any(option.limits.sustained("read_iops") for option in options)
    headings += ["read IOPS", "1,000 IOPS"] if with_iops else []
    headings += [f"paid, {months} m"] if months is not None else []
    headings += ["job"] if any(option.job for option in options) else []
    rows = [
        [label, *_row(option, months, with_iops, "job" in headings), _bound(option)]
        for label, option in zip(labels, options, strict=True)
    ]
    print_table([*headings, "bound by"], rows, right=headings[1:])
    for label, option in zip(labels, options, strict=True):
        for text in exceeded(option):
            say(f"The job is too much for {label}: {text}")
    say("TB-month, GB/s and 1,000 IOPS: what a month costs for each of them. A rate is what is kept for ever.")


def _shared(options: Sequence[Option]) -> dict[str, object]:
    """Values that all designs have, if they differ in nothing but values."""
    first = options[0].chosen
    if any(option.chosen.design != first.design for option in options):
        return {}
    return {key: value for key, value in first.set.items() if all(one.chosen.set.get(key) == value for one in options)}


def _labels(options: Sequence[Option]) -> list[str]:
    """Each design without the values that all have."""
    shared = _shared(options)
    if not shared:
        return [option.label for option in options]
    own = [[f"{key}={value}" for key, value in one.chosen.set.items() if key not in shared] for one in options]
    return [" ".join(words) or option.label for words, option in zip(own, options, strict=True)]


def _bound(option: Option) -> str:
    """What binds reading, and writing if that is something else."""
    found = [option.limits.binding(metric) for metric in METRICS[:2]]
    return ", ".join(dict.fromkeys(layer.layer for layer in found if layer is not None))


def _row(option: Option, months: int | None, with_iops: bool, with_job: bool) -> list[str]:
    cost, limits = option.cost, option.limits
    cells = [
        money(cost.hour) if cost.duty else "",
        *(money(amount) for amount in (cost.month, cost.year, cost.three_years)),
        about_size(limits.usable),
        money(option.per_tb_month),
        *(_cell(option, metric) for metric in METRICS[:2]),
        money(option.per_gbs_month("read")),
        money(option.per_gbs_month("write")),
    ]
    if with_iops:
        iops = limits.sustained("read_iops")
        cells += [f"{iops:,.0f}" if iops else "", money(option.per_kiops_month("read_iops"))]
    if months is not None:
        cells.append(money(cost.paid(months)))
    if with_job:
        cells.append(money(option.job.money) if option.job else "")
    return cells


def _cell(option: Option, metric: "Metric") -> str:
    keeps = option.limits.sustained(metric)
    return "not known" if keeps is None else rate(keeps, metric)


def _bill(option: Option, titled: bool) -> None:
    duty, currency = option.cost.duty, option.cost.currency
    say(f"Bill of {option.label}:" if titled else "Bill:")
    rows = [
        [
            charge.line.what,
            amount_words(charge),
            price_words(charge),
            money(charge.month(duty)) if charge.line.per != "job" else f"{money(charge.job)} a job",
            f"{option.book.date_of(charge.row)}: {charge.row.source}",
        ]
        for charge in option.cost.charges
    ]
    rows.append(["all", "", "", money(total(charge.month(duty) for charge in option.cost.charges)), ""])
    print_table(["what", "how much", f"price in {currency}", "a month", "source"], rows, right=("a month",))


def amount_words(charge: "Charge") -> str:
    """Pieces, and one piece's quantity in the unit that its price is in."""
    unit, pieces = charge.row.unit, f"{charge.line.pieces:f}"
    if unit in ("hour", "unit-hour", "piece"):
        return pieces
    quantity = EXACT.divide(charge.line.each, Decimal(UNITS[unit].factor))
    each = f"{pieces} x {rounded(quantity, 3).normalize():,f} {unit}"
    return f"{each} an hour" if charge.line.per == "hour" else each


def price_words(charge: "Charge") -> str:
    """A row's price with its unit."""
    row = charge.row
    words = f"{row.price.normalize():f}" if row.price is not None else tiers_words(charge)
    words += f" per {row.unit}"
    if row.free:
        words += f", {row.free:f} free"
    return words + (f", {money(row.upfront)} upfront" if row.upfront else "")


def tiers_words(charge: "Charge") -> str:
    """`0.09 to 10240, then 0.085`."""
    parts = [f"{tier.price:f}" + (f" to {tier.up_to:f}" if tier.up_to else "") for tier in charge.row.tiers]
    return ", then ".join(parts)


def _terms(option: Option) -> None:
    if len(option.terms) < 2:
        return
    say("")
    rows = [[term.name, *_costs(term), percent_off(term.cost, option.terms[0].cost)] for term in option.terms]
    headings = ["term", "a month", "a year", "three years", "less than the first"]
    print_table(headings, rows, right=headings[1:])
    _meet(option.term_pairs)


def _costs(term: OnTerm) -> list[str]:
    return [money(term.cost.month), money(term.cost.year), money(term.cost.three_years)]


def percent_off(cost: "Cost", first: "Cost") -> str:
    """How much less the one is."""
    if not first.month or cost.month == first.month:
        return ""
    return percent(1 - EXACT.divide(cost.month, first.month))


def _meet(found: Sequence[Pair]) -> None:
    """Pairs that never meet are told together for the one that is cheaper."""
    dearer: dict[str, list[str]] = {}
    for pair in found:
        if pair.never and pair.months is None:
            names = (pair.first, pair.second)
            dearer.setdefault(names[pair.duty.above], []).append(names[1 - pair.duty.above])
        else:
            say(f"  {pair_words(pair)}")
    for cheaper, others in dearer.items():
        say(f"  {cheaper} is cheaper at every duty cycle than {', '.join(others)}")


def pair_words(pair: Pair) -> str:
    """Which of two is cheaper, and when."""
    names = (pair.first, pair.second)
    duty = pair.duty
    if pair.equal:
        return f"{names[0]} and {names[1]} cost the same"
    if duty.duty is None or duty.hours is None:
        words = f"{names[duty.above]} is cheaper than {names[1 - duty.above]} at every duty cycle"
    else:
        words = (
            f"{names[duty.below]} is cheaper than {names[1 - duty.below]} below a duty cycle of {percent(duty.duty)} "
            f"({rounded(duty.hours, 0):f} hours of a month), and dearer above"
        )
    if pair.months is None:
        return words
    if pair.stays == pair.months:
        return f"{words}; {pair.sooner} has cost less in all from month {pair.months} on, though it is dearer at first"
    words += f"; {pair.sooner}, dearer at first, has cost less in all after month {pair.months} for the first time"
    if pair.stays is None:
        return f"{words}, but not for good within 20 years: what it pays at once comes again"
    return f"{words}, and for good from month {pair.stays} on; between them not always, since it pays at once again"


def percent(share: Decimal) -> str:
    """`37.5 %`."""
    return f"{rounded(share * 100, 1).normalize():f} %"
