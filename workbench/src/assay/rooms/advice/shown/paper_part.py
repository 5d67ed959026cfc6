"""The part `advice` of papers: the design that is recommended for a need, why, and what would change the choice."""

import datetime as dt

from assay.model.base import AssayError
from assay.report.document import Block, Heading
from assay.report.paper_part import PaperContext, PartKind, PartOptions


class AdviceOptions(PartOptions):
    """Options of the part.

    Attributes:
        need: File with the need, as `assay advise` takes it; a relative path starts at the folder of the description.
        evidence: Names of runs of the paper whose targets stand for designs.
        books: Price books in place of the need's.
    """

    need: str
    evidence: tuple[str, ...] = ()
    books: tuple[str, ...] = ()


def advice_blocks(options: AdviceOptions, context: PaperContext) -> list[Block]:
    """Return the sections of the advice page, each below a heading of its own.

    Raises:
        AssayError: The need cannot be read, or names what there is not.
    """
    from assay.rooms.advice.commands.advise import check_names, need_books, read_need
    from assay.rooms.advice.commands.evidence import gather_evidence
    from assay.rooms.advice.shown.page import build_page, need_table
    from assay.rooms.advice.work.advise import advise
    from assay.rooms.advice.work.outlook.picture import picture
    from assay.rooms.advice.work.published_evidence import published_evidence

    path = context.folder / options.need
    need, source = read_need(path)
    base = path.absolute().parent
    books = need_books(need, source, path, list(options.books))
    check_names(need, books, source, path, False)
    known = [*published_evidence()]
    for name in options.evidence:
        (view,) = context.chosen_runs(PartOptions(runs=(name,))).values()
        found = gather_evidence(view.run.folder, base)
        if not found.evidence:
            raise AssayError(
                f"run `{name}` has no evidence for a design", "name the design of each target in its study"
            )
        known += found.evidence
    advice = advise(need, books, tuple(known), base)
    advice = advice.model_copy(update={"sensitivity": picture(advice, books, tuple(known), base)})
    # The same runs give the same paper, so that ages of prices are those on the day of the newest run.
    newest = max(view.run.created_at for view in context.views.values())
    page = build_page(advice, dt.datetime.fromtimestamp(newest, dt.UTC).date())
    sections = [block for section in page.sections for block in (Heading(section.title, ""), *section.blocks)]
    return [Heading("The need", ""), need_table(advice), *sections]


ADVICE = PartKind(advice_blocks, "Recommendation", AdviceOptions, short_option="need")
