"""AWS price list files, as https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws publishes them, CSV or JSON.

They are read as a stream, since those of EC2 have hundreds of megabytes to gigabytes: what does not interest is
dropped at once. Format: docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-service-price-list-file-for-
services.html.
"""

import csv
import datetime as dt
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, TextIO

from assay.model.base import AssayError
from assay.model.money.amount import out_of_bounds

ROOT = "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws"
CHUNK = 2**18
"""Characters that are read at once."""
MOST_ENTRY = 2**26
"""No single product or term is longer; a file that has a longer one is none of AWS's."""
MOST_LINE = 2**20
"""No line of a table is longer."""
HEAD_LINES = 20
"""The line with the columns' names is among the first ones."""

Attributes = Mapping[str, str]
Wanted = Callable[[Attributes], bool]
"""Whether a product is of interest, by its attributes."""


@dataclass(frozen=True)
class Offered:
    """One price of a product: of one range of its quantity, on one term.

    Attributes:
        attributes: Of the product, by names in small letters without spaces and signs, `family` among them.
        lease, paid, offering: Of a reservation: `1yr`, `No Upfront`, `standard`; empty on demand.
        unit: As AWS prints it: Hrs, GB-Mo, Quantity (of upfront fees), ...
        start, end: The range, in `unit`; end None: without bound.
    """

    sku: str
    attributes: Attributes
    term: str
    lease: str
    paid: str
    offering: str
    unit: str
    price: Decimal
    start: Decimal
    end: Decimal | None


@dataclass
class OfferFile:
    """What is known of a file once it has been read to its end.

    Attributes:
        offer: Code of the service, such as AmazonEC2.
        date: When it was published.
        others: Currencies of prices that were left out.
    """

    name: str
    offer: str = ""
    date: dt.date | None = None
    found: list[Offered] = field(default_factory=list)
    others: set[str] = field(default_factory=set)


def read_offers(text: TextIO, name: str, currency: str, wanted: Wanted) -> OfferFile:
    """The prices of the products that are wanted.

    Args:
        text: The file, opened with newline="".
        name: Its name or address, for messages.
        currency: Other prices are left out.
        wanted: Picks the products.

    Raises:
        AssayError: It is no AWS price list file, or is cut off.
    """
    begin = text.read(CHUNK)
    file = OfferFile(name)
    reader = _read_json if begin.lstrip("\ufeff \t\r\n").startswith("{") else _read_csv
    reader(_Stream(text, begin.removeprefix("\ufeff"), name), file, currency, wanted)
    if not file.offer or file.date is None:
        raise _not_one(name, "it has no offer code or no publication date")
    return file


def key_name(name: str) -> str:
    """`Pre Installed S/W`, `preInstalledSw` -> `preinstalledsw`."""
    return "".join(sign for sign in name.lower() if sign.isalnum())


def _not_one(name: str, why: str) -> AssayError:
    return AssayError(f"{name}: not an AWS price list file: {why}", "give an index.csv or index.json of one service")


def _broken_off(name: str) -> AssayError:
    return AssayError(f"{name}: the file breaks off", "fetch it anew")


def _number(text: str, where: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(-1)
    if not value.is_finite() or value < 0:
        raise AssayError(f"{where}: {text[:40]!r} is not a price or quantity", "fetch the file anew")
    beyond = out_of_bounds(value)
    if beyond:
        raise AssayError(f"{where}: {text[:40]!r} is {beyond}", "fetch the file anew")
    return value


def _range(start: str, end: str, where: str) -> tuple[Decimal, Decimal | None]:
    bound = None if end.lower() in ("inf", "") else _number(end, where)
    return _number(start or "0", where), bound


def _date(text: str, name: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text[:10])
    except ValueError:
        raise _not_one(name, f"its publication date is {text[:40]!r}") from None


class _Stream:
    """Text that comes in pieces, of which JSON values are taken one by one."""

    def __init__(self, text: TextIO, begin: str, name: str) -> None:
        self.text, self.buffer, self.at, self.name = text, begin, 0, name
        self._decoder = json.JSONDecoder()
        self._ended = False
        self.cut = False

    def lines(self) -> Iterator[str]:
        """The whole as lines; `cut` is set before one that does not end is given."""
        rest = ""
        for piece in itertools.chain([self.buffer], iter(lambda: self.text.read(CHUNK), "")):
            *whole, rest = (rest + piece).split("\n")
            yield from (line + "\n" for line in whole)
            if len(rest) > MOST_LINE:
                raise _not_one(self.name, "a line of it has no end")
        if rest:
            self.cut = True
            yield rest

    def _more(self, size: int = CHUNK) -> bool:
        piece = "" if self._ended else self.text.read(size)
        self._ended = not piece
        self.buffer, self.at = self.buffer[self.at :] + piece, 0
        return bool(piece)

    def sign(self) -> str:
        """The next sign that is no space, which is left there."""
        while True:
            while self.at < len(self.buffer):
                if not self.buffer[self.at].isspace():
                    return self.buffer[self.at]
                self.at += 1
            if not self._more():
                raise _broken_off(self.name)

    def value(self) -> Any:
        """The next value, whole."""
        self.sign()
        while True:
            try:
                value, end = self._decoder.raw_decode(self.buffer, self.at)
                # A number that touches the end of what is there may go on.
                if end < len(self.buffer):
                    self.at = end
                    return value
            except json.JSONDecodeError as error:
                if len(self.buffer) - self.at > MOST_ENTRY:
                    raise _not_one(self.name, f"not JSON: {error.msg}") from None
            except RecursionError:
                raise _not_one(self.name, "it is nested too deeply") from None
            # Twice as much each time: what was decoded in vain is decoded again.
            if not self._more(max(CHUNK, len(self.buffer) - self.at)):
                raise AssayError(f"{self.name}: the file breaks off, or is not JSON", "fetch it anew")

    def members(self) -> Iterator[str]:
        """The keys of the mapping that comes next; each value must be taken, or skipped, by the caller."""
        self._expect("{")
        if self.sign() == "}":
            self.at += 1
            return
        while True:
            key = self.value()
            self._expect(":")
            yield str(key)
            if self.sign() == "}":
                self.at += 1
                return
            self._expect(",")

    def _expect(self, sign: str) -> None:
        if self.sign() != sign:
            raise _not_one(self.name, f"{self.buffer[self.at : self.at + 20]!r} where JSON has `{sign}`")
        self.at += 1


def _read_csv(stream: _Stream, file: OfferFile, currency: str, wanted: Wanted) -> None:
    reader = csv.reader(stream.lines())
    try:
        columns, width = _csv_head(reader, file)
        for cells in reader:
            if not cells:
                continue
            if stream.cut or len(cells) < width:
                raise _broken_off(f"{file.name}:{reader.line_num}")
            attributes = _Cells(columns, cells)
            if wanted(attributes):
                given = attributes.get("currency", "")
                if given == currency:
                    file.found.append(_csv_offer(attributes, f"{file.name}:{reader.line_num}"))
                else:
                    file.others.add(given)
        if stream.cut:
            raise _broken_off(file.name)
    except csv.Error as error:
        raise _not_one(file.name, str(error)) from None


class _Cells(Mapping[str, str]):
    """A line by the names of its columns, without a copy."""

    def __init__(self, columns: Mapping[str, int], cells: list[str]) -> None:
        self.columns, self.cells = columns, cells

    def __getitem__(self, key: str) -> str:
        place = self.columns[key]
        return self.cells[place] if place < len(self.cells) else ""

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


def _csv_head(reader: Iterator[list[str]], file: OfferFile) -> tuple[dict[str, int], int]:
    """Columns by name, and how many there are; what comes before them says which file it is."""
    for cells in itertools.islice(reader, HEAD_LINES):
        keys = [key_name(cell) for cell in cells]
        if keys[:1] == ["sku"]:
            columns = {key: place for place, key in reversed(list(enumerate(keys)))}
            missing = {"termtype", "startingrange", "endingrange", "unit", "priceperunit", "currency"} - set(columns)
            if missing:
                raise _not_one(file.name, f"it has no column {min(missing)}")
            columns["family"] = columns.get("productfamily", len(cells))
            return columns, len(cells)
        if keys[:1] == ["offercode"] and len(cells) > 1:
            file.offer = cells[1]
        if keys[:1] == ["publicationdate"] and len(cells) > 1:
            file.date = _date(cells[1], file.name)
    raise _not_one(file.name, "no line names the columns, SKU first")


def _csv_offer(cells: _Cells, where: str) -> Offered:
    start, end = _range(cells["startingrange"], cells["endingrange"], where)
    return Offered(
        sku=cells["sku"],
        attributes={key: value for key, value in cells.items() if value},
        term=cells["termtype"],
        lease=cells.get("leasecontractlength", ""),
        paid=cells.get("purchaseoption", ""),
        offering=cells.get("offeringclass", ""),
        unit=cells["unit"],
        price=_number(cells["priceperunit"], where),
        start=start,
        end=end,
    )


def _read_json(stream: _Stream, file: OfferFile, currency: str, wanted: Wanted) -> None:
    products: dict[str, Attributes] = {}
    seen = False
    for key in stream.members():
        if key == "products":
            seen = True
            for sku in stream.members():
                attributes = _json_product(stream.value(), file.name)
                if wanted(attributes):
                    products[sku] = attributes
        elif key == "terms":
            if not seen:
                raise _not_one(file.name, "the terms come before the products")
            _json_terms(stream, file, currency, products)
        else:
            value = stream.value()
            if key == "offerCode":
                file.offer = str(value)
            elif key == "publicationDate":
                file.date = _date(str(value), file.name)


def _json_product(product: Any, name: str) -> Attributes:
    try:
        attributes = {key_name(key): str(value) for key, value in product["attributes"].items()}
    except (TypeError, KeyError, AttributeError):
        raise _not_one(name, "a product has no attributes") from None
    return attributes | {"family": str(product.get("productFamily", ""))}


def _json_terms(stream: _Stream, file: OfferFile, currency: str, products: Mapping[str, Attributes]) -> None:
    for term in stream.members():
        for sku in stream.members():
            offers = stream.value()
            if sku in products:
                try:
                    file.found += _json_offers(sku, products[sku], term, offers, currency, file)
                except (TypeError, KeyError, AttributeError):
                    raise _not_one(file.name, f"a term of {sku} has another form") from None


def _json_offers(
    sku: str, attributes: Attributes, term: str, offers: Any, currency: str, file: OfferFile
) -> Iterator[Offered]:
    for offer in offers.values():
        of_term = {key_name(key): value for key, value in offer.get("termAttributes", {}).items()}
        for code, dimension in offer["priceDimensions"].items():
            price = dimension["pricePerUnit"].get(currency)
            if price is None:
                file.others.update(dimension["pricePerUnit"])
                continue
            where = f"{file.name}, {code}"
            start, end = _range(dimension.get("beginRange", "0"), dimension.get("endRange", "Inf"), where)
            yield Offered(
                sku=sku,
                attributes=attributes,
                term=term,
                lease=of_term.get("leasecontractlength", ""),
                paid=of_term.get("purchaseoption", ""),
                offering=of_term.get("offeringclass", ""),
                unit=str(dimension["unit"]),
                price=_number(str(price), where),
                start=start,
                end=end,
            )
