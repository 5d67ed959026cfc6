"""Designs of own hardware, priced by a book of one's own beside the books of providers."""

from pathlib import Path

from assay.money.books.books import load_book
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.advise import advise

DESIGN = """
design: own-nvme
family: nfs
access: [file]
hardware:
  - {item: nvme-server, count: 2, usable: 30TB, years: 5, watts: 600, rack_units: 2, read: 5GB/s, write: 3GB/s}
durability: site
failure_domain: one server
"""
BOOK = """
book: mine
provider: own
region: here
date: 2026-11-01
currency: USD
hours_per_month: 730
rows:
  - {dimension: purchase, item: nvme-server, price: 28000, unit: piece, source: offer}
  - {dimension: rack, item: rack, price: 30, unit: U-month, source: contract}
  - {dimension: power, item: electricity, price: 0.20, unit: kWh, source: contract}
  - {dimension: administration, item: administrator, price: 70, unit: person-hour, source: contract}
"""


def test_a_design_of_hardware_alone_is_priced_once_however_many_providers_there_are(tmp_path: Path) -> None:
    (tmp_path / "design.yaml").write_text(DESIGN)
    (tmp_path / "mine.yaml").write_text(BOOK)
    wanted = {"need": "files", "access": "file", "capacity": "40TB", "read": "2GB/s", "months": 36}
    need = Need.model_validate({**wanted, "candidates": ["design.yaml", "beegfs-volumes"]})
    books = [load_book("mine.yaml", tmp_path), load_book("aws-us-east-1")]
    answer = advise(need, books, base=tmp_path)
    own = [item for item in answer.options if "own-nvme" in item.design]
    assert [item.label for item in own] == ["own-nvme"]
    assert own[0].price.books == ("mine",)


def test_without_a_book_of_own_hardware_it_is_priced_by_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "design.yaml").write_text(DESIGN)
    need = Need.model_validate({"need": "files", "access": "file", "capacity": "40TB", "candidates": ["design.yaml"]})
    answer = advise(need, [load_book("aws-us-east-1"), load_book("aws-eu-west-1")], base=tmp_path)
    assert answer.result == "none"
    assert "the book has no price of" in answer.rejected[0].why
