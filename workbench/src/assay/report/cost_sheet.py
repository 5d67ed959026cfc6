"""The cost sheet of the workbook: a bill whose prices, quantities and hours can be changed, with totals as formulas.

Each formula is stored with its result, for viewers that do not calculate.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from assay.model.money.amount import EXACT, TERM_MONTHS
from assay.model.money.price import UNITS, PriceTier
from assay.model.money.priced_designs import FrozenPrices
from assay.model.result.result import RunAnalysis
from assay.money.cost.cost import Charge
from assay.money.cost.limits import METRICS
from assay.report.costs import TargetCost, price_unit_size, target_costs
from assay.report.numbers import NONE
from assay.report.pricing import metric_words
from assay.report.view import RunView

SHEET_NAME = "Cost"
HOURS_CELL, DUTY_CELL = "$B$4", "$B$5"
_HEAD_ROW = 8
_LINES = (
    ("Target", "", 14),
    ("What", "", 30),
    ("Pieces", "How many", 9),
    ("Each", "Quantity of one piece, in the unit of column H", 12),
    ("Free", "Free quantity of each piece", 9),
    ("From", "Quantity from which this tier of the price applies", 9),
    ("Up to", "Quantity at which this tier ends; empty: no limit", 9),
    ("Unit", "", 13),
    ("Price", "Price of one unit; change it, and the totals follow", 11),
    ("Upfront", "Upfront payment of a reservation, for each piece", 10),
    ("Months", "Months over which a one-time payment is spread", 9),
    ("Times a month", "Paid hours of a month, or 1", 10),
    ("Month", "", 13),
    ("Each job", "", 10),
    ("Prices of", "", 12),
    ("Source", "", 60),
)


def write_cost_sheet(book: Any, analysis: RunAnalysis) -> None:
    """Add the cost sheet to a workbook; add nothing if the run has no prices."""
    prices, costs = analysis.run.prices, target_costs(RunView(analysis))
    if prices is not None and costs:
        _Sheet(book, prices).write(costs)


class _Sheet:
    """Writes the sheet. Rows and columns are counted from 0, as in xlsxwriter."""

    def __init__(self, book: Any, prices: FrozenPrices) -> None:
        self.prices = prices
        self.sheet = book.add_worksheet(SHEET_NAME)
        self.bold = book.add_format({"bold": True})
        self.head = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
        self.title = book.add_format({"bold": True, "font_size": 14})
        self.money = book.add_format({"num_format": "#,##0.00"})
        self.small = book.add_format({"num_format": "#,##0.00####"})
        self.plain = book.add_format({"num_format": "#,##0.########"})
        # Spreadsheets of costs usually show inputs in blue.
        self.input = book.add_format({"num_format": "#,##0.########", "font_color": "#0000FF"})

    def write(self, costs: list[TargetCost]) -> None:
        """Write the whole sheet."""
        self._top()
        for place, (name, comment, width) in enumerate(_LINES):
            self.sheet.set_column(place, place, width)
            self.sheet.write_string(_HEAD_ROW, place, name, self.head)
            if comment:
                self.sheet.write_comment(_HEAD_ROW, place, comment)
        row = top = _HEAD_ROW + 1
        spans: list[tuple[int, int]] = []
        for item in costs:
            first = row
            for charge, tier, begin in _tiers(item):
                top = top if begin else row
                self._line(row, top, item, charge, tier, begin)
                row += 1
            spans.append((first, row - 1))
        self._totals(row + 1, costs, spans)
        self.sheet.freeze_panes(_HEAD_ROW + 1, 2)

    def _top(self) -> None:
        prices = self.prices
        sheet, book = self.sheet, prices.book
        sheet.write_string(0, 0, "Cost", self.title)
        sheet.write_string(
            1, 0, f"{book.book}: {book.provider}, {book.region}, {book.date}, {prices.term}; {book.currency}"
        )
        sheet.write_string(2, 0, "Blue cells can be changed: prices, quantities, hours. All other cells are formulas.")
        for row, name, value in (
            (3, "Hours of a month", book.hours_per_month),
            (4, "Share of time on", prices.use.duty),
        ):
            sheet.write_string(row, 0, name, self.bold)
            sheet.write_number(row, 1, float(value), self.input)

    def _line(self, row: int, top: int, item: TargetCost, charge: Charge, tier: PriceTier, begin: Decimal) -> None:
        """Write a line of the bill, or one price tier of a line whose first tier is in row `top`."""
        line, price, sheet, n = charge.line, charge.row, self.sheet, row + 1
        factor = Decimal(UNITS[price.unit].factor)
        once = line.per == "once"
        first = begin == 0
        sheet.write_string(row, 0, item.target)
        sheet.write_string(row, 1, line.what)
        values = (line.pieces, EXACT.divide(line.each, factor), price.free, begin, tier.up_to)
        # So that a quantity is changed in one cell, further tiers refer to the first one; each begins where the one
        # above ends.
        references = dict(zip((2, 3, 4, 5), (f"=C{top + 1}", f"=D{top + 1}", f"=E{top + 1}", f"=G{row}"), strict=True))
        for place, value in enumerate(values, start=2):
            if value is not None and row > top and place in references:
                sheet.write_formula(row, place, references[place], self.plain, float(value))
            elif value is not None:
                sheet.write_number(row, place, float(value), self.input)
        sheet.write_string(row, 7, price.unit)
        sheet.write_number(row, 8, float(tier.price), self.input)
        if price.upfront and first:
            sheet.write_number(row, 9, float(price.upfront), self.input)
        if charge.once_months and row > top:
            sheet.write_formula(row, 10, f"=K{top + 1}", self.plain, charge.once_months)
        elif charge.once_months:
            sheet.write_number(row, 10, charge.once_months, self.input)
        self._times(row, charge)
        amount = _amount(charge, tier, begin)
        quantity = f'MAX(0,MIN(D{n}-E{n},IF(G{n}="",1E+300,G{n}))-F{n})'
        if line.per == "job":
            sheet.write_formula(row, 13, f"=C{n}*{quantity}*I{n}", self.money, float(amount))
        else:
            month = _month(charge, amount, self.prices, first)
            spread = "" if once or not charge.once_months else f"+C{n}*J{n}/K{n}"
            sheet.write_formula(row, 12, f"=C{n}*{quantity}*I{n}*L{n}{spread}", self.money, float(month))
        sheet.write_string(row, 14, str(self.prices.book.date_of(price)))
        sheet.write_string(row, 15, price.source)

    def _times(self, row: int, charge: Charge) -> None:
        line, prices = charge.line, self.prices
        if line.per == "hour":
            formula = f"={HOURS_CELL}*{DUTY_CELL}" if _stops(charge) else f"={HOURS_CELL}"
            hours = _hours(charge, prices)
            self.sheet.write_formula(row, 11, formula, self.small, float(hours))
        elif line.per == "once":
            self.sheet.write_formula(row, 11, f"=1/K{row + 1}", self.small, 1 / charge.once_months)
        elif line.per == "month":
            self.sheet.write_number(row, 11, 1)

    def _totals(self, row: int, costs: list[TargetCost], spans: list[tuple[int, int]]) -> None:
        """Write a row of totals for each target, and below them the monthly cost per measured rate."""
        heads = (
            "Target",
            "Design",
            "Hour",
            "Month",
            "Year",
            "Three years",
            "Each job",
            "Usable TB",
            "Usable TB, a month",
        )
        for place, name in enumerate(heads):
            self.sheet.write_string(row, place, name, self.head)
        for place, (item, (first, last)) in enumerate(zip(costs, spans, strict=True)):
            self._total(row + 1 + place, item, first + 1, last + 1)
        self._measured(row + len(costs) + 2, costs, row + 2)

    def _total(self, row: int, item: TargetCost, first: int, last: int) -> None:
        sheet, cost, n = self.sheet, item.cost, row + 1
        sheet.write_string(row, 0, item.target)
        sheet.write_string(row, 1, item.design.chosen.label)
        formulas = (
            (f'=IF({DUTY_CELL}=0,"{NONE}",D{n}/({HOURS_CELL}*{DUTY_CELL}))', item.hour),
            (f"=SUM(M{first}:M{last})", cost.month),
            (f"=D{n}*12", cost.year),
            (f"=D{n}*36", cost.three_years),
            (f"=SUM(N{first}:N{last})", cost.job),
        )
        for place, (formula, value) in enumerate(formulas, start=2):
            sheet.write_formula(row, place, formula, self.money, NONE if value is None else float(value))
        if item.design.usable and item.per_terabyte is not None:
            sheet.write_number(row, 7, item.design.usable / 1e12, self.input)
            sheet.write_formula(row, 8, f"=D{n}/H{n}", self.money, float(item.per_terabyte))

    def _measured(self, row: int, costs: list[TargetCost], first_total: int) -> None:
        heads = ("Target", "Of", "Measured", "Low", "High", "Month per unit", "From", "To", "Result")
        for place, name in enumerate(heads):
            self.sheet.write_string(row, place, name, self.head)
        for number, item in enumerate(costs):
            for metric in METRICS:
                rate, ratio = item.best.get(metric), item.unit_cost(metric)
                if rate is None or ratio is None:
                    continue
                row += 1
                self.sheet.write_string(row, 0, item.target)
                self.sheet.write_string(row, 1, metric_words(metric))
                ends = ((rate.value, ratio.value), (rate.high, ratio.low), (rate.low, ratio.high))
                for place, source, (measured, cost) in zip((5, 6, 7), "CED", ends, strict=True):
                    if measured is not None and cost is not None:
                        self.sheet.write_number(
                            row, "ABCDE".index(source), measured / price_unit_size(metric), self.input
                        )
                        formula = f"=D{first_total + number}/{source}{row + 1}"
                        self.sheet.write_formula(row, place, formula, self.small, float(cost))
                self.sheet.write_string(row, 8, f"{rate.row.case.id} {rate.row.operation}")


def _tiers(item: TargetCost) -> Iterator[tuple[Charge, PriceTier, Decimal]]:
    """Yield each price tier of a bill with the quantity at which it begins; a price without tiers is one tier."""
    for charge in item.cost.charges:
        begin = Decimal(0)
        for tier in charge.row.tiers or (PriceTier(price=charge.row.price or Decimal(0)),):
            yield charge, tier, begin
            begin = tier.up_to or begin


def _amount(charge: Charge, tier: PriceTier, begin: Decimal) -> Decimal:
    """Return the price of the quantity within a tier, for one time that it is charged."""
    row, line = charge.row, charge.line
    quantity = EXACT.subtract(EXACT.divide(line.each, Decimal(UNITS[row.unit].factor)), row.free)
    within = max(Decimal(0), EXACT.subtract(quantity if tier.up_to is None else min(quantity, tier.up_to), begin))
    return EXACT.multiply(EXACT.multiply(within, tier.price), line.pieces)


def _hours(charge: Charge, prices: FrozenPrices) -> Decimal:
    hours = prices.book.hours_per_month
    return EXACT.multiply(hours, prices.use.duty) if _stops(charge) else hours


def _stops(charge: Charge) -> bool:
    """Return whether a charge applies only while the design is on; a reservation is always charged."""
    return charge.line.stops_when_off and charge.row.term not in TERM_MONTHS


def _month(charge: Charge, amount: Decimal, prices: FrozenPrices, first: bool) -> Decimal:
    """Return the cost of a tier in a month; the first tier includes the upfront price of a reservation."""
    if charge.line.per == "once":
        return EXACT.divide(amount, Decimal(charge.once_months))
    monthly = EXACT.multiply(amount, _hours(charge, prices)) if charge.line.per == "hour" else amount
    if charge.row.term in TERM_MONTHS and first:
        return EXACT.add(monthly, EXACT.divide(charge.once, Decimal(charge.once_months)))
    return monthly
