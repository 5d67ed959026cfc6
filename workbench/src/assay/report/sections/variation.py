"""Variation: how the spread of results depends on the size of a transfer."""

from collections.abc import Iterator

from assay.analyse.growth.totals import Range
from assay.analyse.growth.variation import Variation, variations
from assay.report import numbers
from assay.report.document import Bullets, Chart, Fold, Gallery, Paragraph, Strong, Text
from assay.report.growth.charts import variation_chart
from assay.report.view import RunView

_WORDS = (
    "The coefficient of variation is the standard deviation as a share of the mean. That of repeats is pooled over all "
    "points with the same size of transfer; its 95 % interval uses chi-square on logarithms. With different "
    "numbers of hosts: variation of the medians at each number, all else being the same."
)


def folds(view: RunView) -> Iterator[Fold]:
    """Yield sentences and a chart of each operation; nothing if fewer than three sizes of transfer were measured."""
    found = [one for one in variations(view.analysis.rows) if any(item.repeats for item in one.sizes)]
    if not found:
        return
    sentences = tuple(text for one in found if (text := variation_sentence(one)) is not None)
    blocks = (Bullets(sentences),) if sentences else ()
    words = "Variation with the size of a transfer"
    yield Fold(words, (*blocks, Paragraph(_WORDS), Gallery(tuple(_charts(found)))), "variation")


def variation_sentence(found: Variation) -> Text | None:
    """Return how much small and large transfers vary; None unless both were measured."""
    if found.small is None or found.large is None:
        return None
    head = f"{numbers.operation_title(found.operation)}, {found.target}, {found.workload}: "
    words = f"repeats vary by {_percent(found.small)} below 1 MiB and by {_percent(found.large)} from 1 MiB on"
    if found.small.low > found.large.high:
        end = "; small transfers vary more."
    elif found.large.low > found.small.high:
        end = "; large transfers vary more."
    else:
        end = "; no clear difference."
    return (Strong(head), words + end)


def _percent(item: Range) -> str:
    return f"{_share(item.value)} % ({_share(item.low)} to {_share(item.high)} %)"


def _share(value: float) -> str:
    return numbers.significant(100 * value, 2)


def _charts(found: list[Variation]) -> Iterator[Chart]:
    border = "Right of the dotted line, at 1 MiB, are large transfers."
    words = f"With its 95 % interval, which may end beyond the chart. {border}"
    for operation in dict.fromkeys(one.operation for one in found):
        lines, name = [one for one in found if one.operation == operation], numbers.operation_title(operation)
        yield Chart(f"variation-{operation}", f"{name}, from repeat to repeat", words, variation_chart(lines, False))
        if any(item.hosts is not None for one in lines for item in one.sizes):
            title = f"{name}, with different numbers of hosts"
            drawing = variation_chart(lines, True)
            yield Chart(f"variation-hosts-{operation}", title, border, drawing)
