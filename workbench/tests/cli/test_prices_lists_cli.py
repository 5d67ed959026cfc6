"""`assay prices refresh` from a server that gives price lists page by page, and from one that does not."""

import datetime as dt
import gzip
import json
import threading
import urllib.parse
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from paths import GOLDEN
from run_tools import assay

from assay.money.books.books import load_book

LISTS = GOLDEN / "price_lists"
ENTRIES = json.loads((LISTS / "azure/items-2025-2026.json").read_text())
SKUS = json.loads((LISTS / "gcp/skus-2024-11-08.json").read_text())
AT_ONCE = 7
AZURE = """book: mine
provider: azure
region: australiaeast
date: 2026-01-01
currency: USD
hours_per_month: 730
rows:
  - {dimension: instance, item: Standard_E16pds_v6, price: 1.06, unit: hour, source: an old list}
  - {dimension: instance, item: Standard_D16pds_v6, price: 0.915, unit: hour, source: an old list, note: kept}
  - {dimension: instance, item: Standard_X1, price: 7, unit: hour, source: an old list}
  - {dimension: administration, item: administrator, price: 50, unit: person-hour, source: wages}
"""
GCP = """book: mine
provider: gcp
region: us-central1
date: 2026-01-01
currency: USD
hours_per_month: 730
rows:
  - {dimension: volume-capacity, item: pd-ssd, price: 0.2, unit: GiB-month, source: an old list}
"""


def page(handler, place):
    """A part of Azure's entries, in an envelope as the real ones have it; the next page is on the same server."""
    part = ENTRIES[place : place + AT_ONCE]
    after = place + AT_ONCE
    query = urllib.parse.urlencode({"$skip": after})
    link = f"{handler.server.root}/azure?{query}" if after < len(ENTRIES) else None
    return {"BillingCurrency": "USD", "Items": part, "NextPageLink": link, "Count": len(part)}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        where = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(where.query))
        self.server.asked.append((where.path, query, dict(self.headers)))
        answer = getattr(self, "give_" + where.path.strip("/").replace("-", "_"))(query)
        if answer is not None:
            self.give(answer)

    def give(self, body, more=0, code=200):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data) + more))
        self.end_headers()
        self.wfile.write(data)

    def send_to(self, address):
        self.send_response(302)
        self.send_header("Location", address)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def give_azure(self, query):
        return page(self, int(query.get("$skip", 0)))

    def give_packed(self, query):
        self.give(
            gzip.compress(
                json.dumps({**page(self, 0), "Items": ENTRIES, "Count": len(ENTRIES), "NextPageLink": None}).encode()
            )
        )

    def give_gcp(self, query):
        place = int(query.get("pageToken", 0))
        after = place + AT_ONCE
        return {"skus": SKUS[place:after], "nextPageToken": str(after) if after < len(SKUS) else ""}

    def give_round(self, query):
        return {**page(self, 0), "NextPageLink": f"{self.server.root}/round"}

    def give_elsewhere(self, query):
        return {**page(self, 0), "NextPageLink": "http://127.0.0.9/azure"}

    def give_short(self, query):
        return {**page(self, 0), "Count": AT_ONCE + 1}

    def give_cut(self, query):
        return json.dumps(page(self, 0)).encode()[:-100]

    def give_early(self, query):
        self.give(page(self, 0), more=50)

    def give_words(self, query):
        return b"<html>too many requests</html>"

    def give_busy(self, query):
        self.give(b"", code=429)

    def give_loop(self, query):
        self.send_to("/loop")

    def give_file(self, query):
        self.send_to("file:///etc/passwd")

    def give_late(self, query):
        """A good page, then one that breaks off: nothing of the first is kept."""
        if "$skip" in query:
            return b'{"Items": ['
        return {**page(self, 0), "NextPageLink": f"{self.server.root}/late?{urllib.parse.urlencode({'$skip': 7})}"}

    def give_euro(self, query):
        items = [{**each, "currencyCode": "EUR"} for each in ENTRIES]
        return {"Items": items, "NextPageLink": "", "Count": len(items)}

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def server():
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.root, made.asked = f"http://127.0.0.1:{made.server_port}", []
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def refresh(folder, source, *more, text=AZURE, expect=0):
    (folder / "mine.yaml").write_text(text)
    words = ("prices", "refresh", "mine.yaml", "--from", source, "--output", "new.yaml", *more)
    return assay(folder, *words, expect=expect)


@pytest.mark.parametrize("path", ["azure", "packed"])
def test_the_pages_of_azure_are_followed_to_the_last(server, tmp_path, path):
    server.asked.clear()
    result = refresh(tmp_path, f"{server.root}/{path}")
    pages = -(-len(ENTRIES) // AT_ONCE) if path == "azure" else 1
    assert len(server.asked) == pages
    book = load_book("new.yaml", tmp_path)
    first, second, third, person = book.rows
    assert (first.price, second.price, second.note) == (Decimal("1.166"), Decimal("0.915"), "kept")
    assert first.sku == "DZH318Z0G1GS/000F" and first.read_on == first.date == dt.date.today()
    meter = "001a6a3e-b232-5407-bdcf-d98ffc3cc57a"
    assert first.url == f"{server.root}/{path}?$filter=meterId%20eq%20'{meter}'"
    assert first.source == "Azure's retail prices: Virtual Machines Epdsv6 Series, E16pds v6"
    assert (third.price, third.source, third.sku, third.read_on) == (7, "an old list", "", None)
    assert person.price == 50 and str(book.date) == "2026-01-01"
    assert result.stdout.endswith("new.yaml: new prices: 1 (+10.0 %), as before: 1, not renewed: 2\n")
    assert [line for line in result.stderr.splitlines() if line.startswith("not renewed")] == [
        "not renewed: instance Standard_X1: not in the file, still of 2026-01-01",
        "not renewed: administration administrator: no rule finds it in the files, still of 2026-01-01",
    ]


def test_the_pages_of_google_are_followed_and_no_stranger_gets_the_key(server, tmp_path, monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", "secret-7")
    server.asked.clear()
    result = refresh(tmp_path, f"{server.root}/gcp?pageSize=7", text=GCP)
    assert [query.get("pageToken") for _, query, _ in server.asked] == [None, "7", "14"]
    assert all(query["pageSize"] == "7" for _, query, _ in server.asked)
    assert not any("secret-7" in str(each) for each in server.asked)
    row = load_book("new.yaml", tmp_path).rows[0]
    assert (row.price, row.url, row.sku) == (Decimal("0.17"), f"{server.root}/gcp", "B188-61DD-52E4")
    assert "secret-7" not in result.stdout + result.stderr + (tmp_path / "new.yaml").read_text()


def test_the_key_goes_to_google_only(server, tmp_path, monkeypatch):
    """The address of Google's list is put to this server: the key comes in the header, and not in an address."""
    from assay.rooms.pricelists.commands.prices_fetch import read_lists
    from assay.rooms.pricelists.work import gcp
    from assay.rooms.pricelists.work.refresh import needed_urls, product_filter, provider_of

    monkeypatch.setenv(gcp.KEY, "secret-7")
    monkeypatch.setattr(gcp, "ROOT", f"{server.root}/gcp")
    monkeypatch.setattr(Handler, "do_GET", _google)
    (tmp_path / "mine.yaml").write_text(GCP)
    book = load_book("mine.yaml", tmp_path)
    server.asked.clear()
    (found,) = read_lists(
        provider_of(book), needed_urls(book), book, product_filter(book), allow_missing=False, fetched_on=None
    )
    assert [each.price for each in found.prices] == [Decimal("0.17")] and "secret" not in found.url
    assert [headers.get("X-Goog-Api-Key") for _, _, headers in server.asked] == ["secret-7"] * 3
    assert not any("secret-7" in json.dumps([path, query]) for path, query, _ in server.asked)


PLANNED = """book: mine
provider: aws
region: eu-west-1
date: 2019-01-01
currency: USD
hours_per_month: 730
rows:
  - {dimension: instance, item: c1.medium, price: 1, unit: hour, source: an old list}
  - {dimension: instance, item: c1.medium, term: savings-1y, payment: all-upfront, upfront: 9, price: 0, unit: hour,
     source: an old list}
"""


def _amazon(handler):
    """AWS's server: an index of savings plans, the plans that it names, and nothing else."""
    handler.server.asked.append((handler.path, {}, {}))
    name = {"/index": "savings-plans-region-index-2026-04-22.json"}.get(handler.path, "")
    if handler.path.endswith("/eu-west-1/index.csv") and handler.path.startswith("/savingsPlan/"):
        name = "savings-plans-2020-02-20-eu-west-1.json"
    handler.give((LISTS / "aws" / name).read_bytes() if name else b"", code=200 if name else 404)


def test_savings_plans_are_where_an_index_says(server, tmp_path, monkeypatch, capsys):
    from assay.rooms.pricelists.commands import prices_fetch
    from assay.rooms.pricelists.work import aws, aws_items
    from assay.rooms.pricelists.work.refresh import needed_urls, product_filter, provider_of, refresh

    monkeypatch.setattr(Handler, "do_GET", _amazon)
    monkeypatch.setattr(aws, "HOST", server.root)
    monkeypatch.setattr(aws_items, "ROOT", f"{server.root}/offers")
    for module in (aws_items, prices_fetch):
        monkeypatch.setattr(module, "PLANS", f"{server.root}/index")
    (tmp_path / "mine.yaml").write_text(PLANNED)
    book = load_book("mine.yaml", tmp_path)
    addresses = needed_urls(book)
    assert addresses == [f"{server.root}/offers/AmazonEC2/current/eu-west-1/index.csv", f"{server.root}/index"]
    server.asked.clear()
    files = prices_fetch.read_lists(
        provider_of(book), addresses, book, product_filter(book), allow_missing=True, fetched_on=None
    )
    found = refresh(book, files)
    table = "/savingsPlan/v1.0/aws/AWSDatabaseSavingsPlans/20260422194203/eu-west-1/index.csv"
    assert [path for path, _, _ in server.asked] == ["/offers/AmazonEC2/current/eu-west-1/index.csv", "/index", table]
    assert [(each.new.upfront, each.new.url) for each in found.changes] == [(Decimal("858.48"), server.root + table)]
    assert f"warning: {addresses[0]}: the server has no such file" in capsys.readouterr().err
    monkeypatch.setattr(prices_fetch, "PLANS", f"{server.root}/gone")
    missing = [f"{server.root}/gone"]
    assert not prices_fetch.read_lists(
        provider_of(book), missing, book, product_filter(book), allow_missing=True, fetched_on=None
    )


def _google(handler):
    where = urllib.parse.urlsplit(handler.path)
    query = dict(urllib.parse.parse_qsl(where.query))
    handler.server.asked.append((where.path, query, dict(handler.headers)))
    handler.give(handler.give_gcp(query))


def test_without_a_key_google_is_not_asked(tmp_path, monkeypatch):
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    (tmp_path / "mine.yaml").write_text(GCP)
    result = assay(tmp_path, "prices", "refresh", "mine.yaml", "--output", "new.yaml", expect=2)
    lines = result.stderr.splitlines()
    assert lines[0].startswith("error: Google Cloud's price list needs an API key, but the environment variable ")
    assert lines[1].startswith("hint: set GOOGLE_API_KEY, or name a list ") and len(lines) == 2
    assert not (tmp_path / "new.yaml").exists()


@pytest.mark.parametrize(
    ("path", "message", "code"),
    [
        ("round", "{root}/round: its pages lead back to {root}/round", 1),
        ("elsewhere", "{root}/elsewhere: the link to the next page leads to another server: http://127.0.0.9/azure", 2),
        ("short", "{root}/short: the page is truncated: 7 of 8 entries", 2),
        ("cut", "{root}/cut: the page is truncated", 2),
        ("early", "cannot read {root}/early: ", 1),
        ("words", "{root}/words: not a page of Azure's retail prices: line 1 is not JSON: expecting value", 2),
        ("busy", "{root}/busy: the server answers 429 Too Many Requests", 2),
        ("loop", "{root}/loop: the server redirects endlessly", 1),
        ("file", "{root}/file: the server redirects to a forbidden address (302)", 1),
        ("late", "{root}/late?%24skip=7: the page is truncated", 2),
        ("euro", "{root}/euro: prices in EUR; the book mine is in USD", 2),
    ],
)
def test_a_list_that_cannot_be_read_gets_one_line_and_no_book(server, tmp_path, path, message, code):
    result = refresh(tmp_path, f"{server.root}/{path}", expect=code)
    lines = result.stderr.splitlines()
    assert lines[0] == f"reading {server.root}/{path}"
    assert lines[1].startswith("error: " + message.format(root=server.root)) and lines[2].startswith("hint: ")
    assert len(lines) == 3 and not result.stdout
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine.yaml"]
    assert (tmp_path / "mine.yaml").read_text() == AZURE


def test_copies_of_pages_need_the_day_when_they_were_fetched(tmp_path):
    copy = str(LISTS / "azure/items-2025-2026.json")
    lines = refresh(tmp_path, copy, expect=2).stderr.splitlines()
    assert lines == [f"error: {copy} does not say when it was fetched", "hint: add --read-on DATE"]
    assert "--read-on: 'soon' is not a date" in refresh(tmp_path, copy, "--read-on", "soon", expect=2).stderr
    future = refresh(tmp_path, copy, "--read-on", "2999-01-01", expect=2)
    assert "--read-on: 2999-01-01 is in the future" in future.stderr
    refresh(tmp_path, copy, "--read-on", "2026-08-22")
    row = load_book("new.yaml", tmp_path).rows[0]
    assert (str(row.date), str(row.read_on), row.url) == ("2026-08-22", "2026-08-22", "")
    assert row.source.endswith(f"E16pds v6 ({copy})")


def test_a_page_whose_list_goes_on_is_told(tmp_path):
    text = AZURE.replace("australiaeast", "uaecentral").replace("Standard_X1", "Standard_F2")
    copy = str(LISTS / "azure/page-812-2022-04-20.json")
    result = refresh(tmp_path, copy, "--read-on", "2026-04-20", text=text)
    said = f"warning: {copy} is not the last page of the list: prices on the other pages keep their values"
    assert result.stderr.splitlines()[1] == said
    assert load_book("new.yaml", tmp_path).rows[2].price == Decimal("0.148")


def test_the_hint_for_old_prices_names_the_providers_whose_lists_are_read():
    from assay.cli.money.books import REFRESHABLE_PROVIDERS
    from assay.rooms.pricelists.work.providers import PROVIDERS

    assert tuple(PROVIDERS) == REFRESHABLE_PROVIDERS


def test_check_without_a_name_lists_the_old_prices_of_all_shipped_books(tmp_path):
    from assay.money.books.ages import old_rows
    from assay.money.books.books import book_names

    result = assay(tmp_path, "prices", "check", expect=0)
    lines = result.stdout.splitlines()
    assert [line.split(":")[1].strip() for line in lines if line.startswith("ok: ")] == book_names()
    for name in book_names():
        book = load_book(name)
        old = old_rows(book, dt.date.today())
        count = sum(map(len, old.values()))
        said = f"  older than 180 days: {count} of {len(book.rows)} rows"
        assert (said in lines) == bool(count)
        assert all(any(line.startswith(f"  {day}: {len(rows)}: ") for line in lines) for day, rows in old.items())


def test_old_prices_are_named_by_day_and_no_failure(tmp_path):
    today = dt.date.today()
    days = [today - dt.timedelta(days=age) for age in (180, 181, 300)]
    rows = "".join(
        f"  - {{dimension: instance, item: m{place}, price: 1, unit: hour, date: {day}, source: x}}\n"
        for place, day in enumerate(days)
    )
    head = AZURE.split("rows:")[0].replace("2026-01-01", str(days[-1]))
    (tmp_path / "own.yaml").write_text(head + "rows:\n" + rows)
    result = assay(tmp_path, "prices", "check", "own.yaml", expect=0)
    assert result.stdout.splitlines() == [
        f"ok: own.yaml: 3 rows in USD of {days[2]} to {days[0]}, the oldest 300 days old",
        "  older than 180 days: 2 of 3 rows",
        f"  {days[2]}: 1: instance m2",
        f"  {days[1]}: 1: instance m1",
    ]
