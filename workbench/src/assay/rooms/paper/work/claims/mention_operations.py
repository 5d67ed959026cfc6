"""Operations in a sentence: `4 KiB random reads`, `reads ... at random`, `rewrites`."""

import re
from collections.abc import Iterable, Iterator

from assay.model.study.names import OBJECT_READS, OBJECT_WRITES, READS, WRITES
from assay.rooms.paper.work.claims.facts import FactIndex
from assay.rooms.paper.work.claims.mentions import OPERATION, Mention, overlaps

_SEQUENTIAL_READS = frozenset({"read", "reread", "fread", "re_fread"})
_SEQUENTIAL_WRITES = frozenset({"write", "rewrite", "fwrite", "re_fwrite"})
_AS_NOUN = r"(?= (?:rates?|throughput|operations?|requests?|latenc\w+|performance|of|speed|from|to)\b)"
_OPERATIONS: tuple[tuple[str, frozenset[str]], ...] = (
    (r"re-?reads?(?:ing)?|re-?readers?|second reads?", frozenset({"reread"})),
    (r"record[ -]rewrit(?:es?|ing)", frozenset({"record_rewrite"})),
    (r"re-?writ(?:es?|ing|ers?|ten)|re-?wrote|overwrit(?:es?|ing)", frozenset({"rewrite"})),
    (r"backwards? read(?:s|ing)?|reads? backwards?", frozenset({"backward_read"})),
    (r"stride[ -]?d? read(?:s|ing)?", frozenset({"stride_read"})),
    (r"re-?fwrites?", frozenset({"re_fwrite"})),
    (r"re-?freads?", frozenset({"re_fread"})),
    (r"fwrites?", frozenset({"fwrite", "re_fwrite"})),
    (r"freads?", frozenset({"fread", "re_fread"})),
    (r"(?:initial|first) writ(?:es?|ers?|ing)", frozenset({"write"})),
    (r"(?:initial|first) read(?:s|ers?|ing)?", frozenset({"read"})),
    (
        (
            rf"puts|(?-i:PUTs?)|put{_AS_NOUN}|(?<=are )put|(?<=is )put|(?<=were )put|put(?= into)|putting|uploads?|"
            rf"uploaded|"
            rf"stor(?:es|ed) objects|storing objects"
        ),
        frozenset({"put"}),
    ),
    (
        rf"gets(?! (?:\w+ )?(?:slower|faster|better|worse|higher|lower|larger|smaller|cheaper|"
        rf"more|less)\b)|(?-i:GETs?)|get{_AS_NOUN}|downloads?|downloaded|getting(?= (?:an?|the|objects?|items?)\b)|"
        rf"fetch(?:es|ed|ing)?",
        frozenset({"get"}),
    ),
    (r"stats?|lookups?", frozenset({"stat"})),
    (r"creat(?:es?|ed|ions?|ing)", frozenset({"create"})),
    (r"unlinks?|remov(?:es?|als?|ing)|delet(?:es?|ions?|ing)", frozenset({"unlink", "delete", "multi_delete"})),
    (r"renam(?:es?|ing)", frozenset({"rename"})),
    (r"mkdirs?", frozenset({"mkdir"})),
    (r"rmdirs?", frozenset({"rmdir"})),
    (r"heads|HEADs?", frozenset({"head"})),
    (r"listings?|lists", frozenset({"list"})),
    (r"quer(?:y|ies)", frozenset({"query"})),
    (r"scans?", frozenset({"scan"})),
    (r"transfers?|iperf", frozenset({"transfer"})),
    (r"round[ -]trips?|pings?", frozenset({"round_trip"})),
    (r"transactions?", frozenset({"transaction"})),
)
READ_WORD = r"reads?|reading|readers?"
WRITE_WORD = r"writ(?:es?|ing|ten|ers?)|wrote"
_GENERIC = re.compile(
    rf"(?<![\w-])(?P<order>(?:random|sequential)(?:ly)?[ -](?:[0-9]+ ?[kKMG]i?B? )?)?"
    rf"(?:(?P<read>{READ_WORD})|(?P<write>{WRITE_WORD}))(?!\w)(?P<after> (?:\w+ ){{0,4}}?(?:at random|"
    rf"randomly|sequentially|in order))?",
    re.IGNORECASE,
)
_BOTH = re.compile(
    (
        rf"(?:random|sequential)(?:ly)?[ -](?:{READ_WORD}|{WRITE_WORD}) (?:and|or|"
        rf"as well as) (?P<second>{READ_WORD}|{WRITE_WORD})"
    ),
    re.IGNORECASE,
)
_ONES = re.compile(r"\b(random|sequential) (?:ones?|access(?:es)?|order)\b", re.IGNORECASE)


class OperationFinder:
    """Finds operations that the runs have."""

    def __init__(self, facts: FactIndex) -> None:
        self._operations = {str(value) for value in facts.values_of.get(OPERATION, [])}

    def operations(self, text: str, names: Iterable[Mention]) -> list[Mention]:
        """Return the mentions of operations, outside of names."""
        found: list[Mention] = []
        taken = list(names)
        for pattern, operations in _OPERATIONS:
            if known := operations & self._operations:
                for match in re.finditer(rf"(?<![\w.-])(?:{pattern})(?![\w-])", text, re.IGNORECASE):
                    if not overlaps(match.start(), match.end(), [*taken, *found]):
                        pairs = frozenset((OPERATION, operation) for operation in known)
                        found.append(Mention(OPERATION, pairs, match.start(), match.end()))
        seconds = [match.start("second") for match in _BOTH.finditer(text)]
        for match in _GENERIC.finditer(text):
            if not overlaps(match.start(), match.end(), [*taken, *found]):
                known = self._generic(text, match, match.start() in seconds) & self._operations
                if known:
                    pairs = frozenset((OPERATION, operation) for operation in known)
                    found.append(Mention(OPERATION, pairs, match.start(), match.end(), True))
        found += self._ones(text, found)
        return sorted(found, key=lambda item: item.start)

    def _ones(self, text: str, found: list[Mention]) -> Iterator[Mention]:
        """Yield operations that a pronoun stands for: `random reads are slower than sequential ones`."""
        known = {str(value) for mention in found for _, value in mention.pairs}
        for match in _ONES.finditer(text):
            is_random = match[1].lower() == "random"
            reads = {"random_read"} if is_random else _SEQUENTIAL_READS
            writes = {"random_write"} if is_random else _SEQUENTIAL_WRITES
            wanted = (reads if known & READS else frozenset()) | (writes if known & WRITES else frozenset())
            if wanted & self._operations:
                pairs = frozenset((OPERATION, operation) for operation in wanted & self._operations)
                yield Mention(OPERATION, pairs, match.start(), match.end(), True)

    def _generic(self, text: str, match: re.Match[str], follows_order: bool) -> frozenset[str]:
        """Return what `read`, `random writes` or `reads 4 KiB records at random` may mean."""
        words = f"{match['order'] or ''}{match['after'] or ''}".lower()
        if not words:
            before = text[: match.start()].lower()
            nearest = max((before.rfind("random"), "random"), (before.rfind("sequential"), "sequential"))
            if nearest[0] >= 0 and (follows_order or not re.search(r"[,;]", before[nearest[0] :])):
                words = nearest[1]
            elif re.search(r"\b(?:at random|randomly)\b", text) and "sequential" not in text.lower():
                words = "random"
            elif re.search(r"\bsequentially\b", text) and "random" not in text.lower():
                words = "sequential"
        is_read = bool(match["read"])
        if "random" in words:
            return frozenset({"random_read"} if is_read else {"random_write"})
        if "sequential" in words or "in order" in words:
            return _SEQUENTIAL_READS if is_read else _SEQUENTIAL_WRITES
        return frozenset((READS | OBJECT_READS) if is_read else (WRITES | OBJECT_WRITES)) - {"random_mix", "file_mix"}
