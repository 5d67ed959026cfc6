"""`assay serve`: what a browser is shown of a folder of runs, and what it is not."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from run_tools import ASSAY, assay
from served import ask, served
from stored_runs import DAY, STARTED, noisy, store_run

from assay.model.base import AssayError
from assay.model.result.brief_result import BriefResult
from assay.rooms.serve.shown.runs import RUNS_PER_PAGE
from assay.rooms.serve.work.folder import RunsFolder
from assay.rooms.serve.work.server import Server
from assay.store import RunStore

EVIL = "<script>alert('x')</script>\x1b[31m\u202e"
SPEEDS = {("disk", "write"): noisy(3e8, 4), ("disk", "read"): noisy(5e8, 4)}


def two(root: Path) -> None:
    store_run(root, "early", SPEEDS)
    slow = {key: [rate * 0.7 for rate in rates] for key, rates in SPEEDS.items()}
    store_run(root, "later", slow, created_at=STARTED + DAY, study="weekly", planned=6)
    with RunStore.open(root / "early", write=True) as run:
        case = run.cases()[0]
        run.save_results([BriefResult(case.id, case.label, "write", "ok", 1.1e8, 1e8, 1.2e8, 1e3, 3, "")])


def order(text: str) -> list[str]:
    """Runs in the order of their rows."""
    return re.findall(r'<input type=checkbox name=run value="([^"]*)"', text)


def test_the_runs_are_listed_newest_first_with_what_is_known_of_them(tmp_path: Path) -> None:
    two(tmp_path)
    with served(tmp_path) as server:
        text = ask(server, "/").text
        assert order(text) == ["later", "early"]
        assert "2026-11-21 19:15" in text and "Is it as fast as it was?" in text
        assert '<b class="v ok">ok 1</b>' in text
        assert "4 of 6 repeats" in text and "stopped" in text
        assert order(ask(server, "/?study=weekly").text) == ["later"]
        assert order(ask(server, "/?study=").text) == ["later", "early"]
        assert '<option value="weekly" selected>' in ask(server, "/?study=weekly").text
        assert "There are no runs of nothing." in ask(server, "/?study=nothing").text


def test_a_new_run_appears_and_a_removed_one_goes(tmp_path: Path) -> None:
    root = tmp_path / "later-made"
    with served(root) as server:
        assert "There are no runs in" in ask(server, "/").text
        assert "assay run study.yaml" in ask(server, "/").text
        folder = store_run(root, "early", SPEEDS)
        assert order(ask(server, "/").text) == ["early"]
        folder.rename(tmp_path / "away")
        assert order(ask(server, "/").text) == []
        assert ask(server, "/run/early").status == 404


def test_a_run_under_way_shows_how_far_it_is_and_the_page_looks_again(tmp_path: Path) -> None:
    store_run(tmp_path, "early", SPEEDS, planned=8)
    with served(tmp_path) as server, RunStore.open(tmp_path / "early", write=True) as run:
        assert "http-equiv" not in ask(server, "/").text
        run.set_status("running")
        text = ask(server, "/").text
        assert "<progress max=8 value=4>" in text and 'http-equiv="refresh" content="5"' in text
        run.set_status("complete")
        assert "<progress" not in ask(server, "/").text


def test_the_report_is_the_one_that_the_command_writes(tmp_path: Path) -> None:
    two(tmp_path)
    assay(tmp_path, "report", "early", "--out", ".", "--output", "early.html")
    with served(tmp_path) as server:
        whole = ask(server, "/run/early")
        assert (whole.status, whole.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert '<p class=served><a href="/">All runs</a>' in whole.text
        bare = ask(server, "/run/early/report.html")
        assert bare.body == (tmp_path / "early.html").read_bytes()
        assert bare.headers["Content-Disposition"] == 'attachment; filename="early.html"'


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_files_are_the_ones_that_the_command_writes(tmp_path: Path, ending: str) -> None:
    two(tmp_path)
    written = assay(tmp_path, "export", "early", "--out", ".", "-f", ending, "-o", "-").stdout
    with served(tmp_path) as server:
        found = ask(server, f"/run/early/export.{ending}")
        assert found.text.replace(str(tmp_path), "") == written.replace(str(tmp_path), "")
        assert found.headers["Content-Disposition"] == f'attachment; filename="early.{ending}"'


def test_a_workbook_is_one(tmp_path: Path) -> None:
    two(tmp_path)
    with served(tmp_path) as server:
        assert ask(server, "/run/early/export.xlsx").body.startswith(b"PK")
        assert ask(server, "/run/early/export.exe").status == 404


def test_two_runs_are_compared_the_older_one_first(tmp_path: Path) -> None:
    two(tmp_path)
    with served(tmp_path) as server:
        sent = ask(server, "/compare?run=later&run=early")
        assert (sent.status, sent.headers["Location"]) == (303, "/compare?a=early&b=later")
        text = ask(server, sent.headers["Location"]).text
        assert "later against early" in text and "-table" in text
        assert "early against later" in ask(server, "/compare?a=later&b=early").text


def test_more_than_two_runs_stand_side_by_side_the_oldest_first(tmp_path: Path) -> None:
    two(tmp_path)
    store_run(tmp_path, "third", {("disk", "write"): noisy(3e8, 4)}, created_at=STARTED + 9 * DAY)
    with served(tmp_path) as server:
        text = ask(server, "/compare?run=third&run=later&run=early").text
        assert "Compared with early" in text and text.index('href="/run/early"') < text.index('href="/run/third"')


@pytest.mark.parametrize("query", ["", "?run=early", "?run=early&run=early", "?a=early", "?run=a&run=b&run=a"])
def test_other_numbers_of_runs_are_refused_with_the_way_out(tmp_path: Path, query: str) -> None:
    two(tmp_path)
    with served(tmp_path) as server:
        found = ask(server, f"/compare{query}")
        assert found.status == 400 and "Go back and select at least two." in found.text and 'href="/"' in found.text


def test_runs_that_have_nothing_in_common_are_told(tmp_path: Path) -> None:
    store_run(tmp_path, "one", {("disk", "write"): noisy(3e8, 4), ("memory", "write"): noisy(3e8, 4)})
    store_run(tmp_path, "other", {("left", "write"): noisy(3e8, 4), ("right", "write"): noisy(3e8, 4)})
    with served(tmp_path) as server:
        found = ask(server, "/compare?a=one&b=other")
        assert found.status == 422 and "<section><p class=lead>" in found.text


def test_a_changed_run_is_read_again(tmp_path: Path) -> None:
    two(tmp_path)
    with served(tmp_path) as server:
        before = ask(server, "/run/early").text
        assert ask(server, "/run/early").text == before
        with RunStore.open(tmp_path / "early", write=True) as run:
            run._db.execute("UPDATE run SET question = 'Is it changed?'")
        assert "Is it changed?" in ask(server, "/").text
        assert "Is it changed?" in ask(server, "/run/early").text


def spoil(root: Path) -> None:
    """Runs that are broken in several ways, beside two sound ones."""
    two(root)
    for name in ("text", "torn", "future", "odd"):
        store_run(root, name, SPEEDS)
    (root / "text" / "run.sqlite").write_bytes(b"no database " * 1000)
    whole = (root / "torn" / "run.sqlite").read_bytes()
    (root / "torn" / "run.sqlite").write_bytes(whole[: len(whole) // 3])
    for name, change in (
        ("future", "PRAGMA user_version = 9999"),
        ("odd", "UPDATE run SET created_at = 9e999, planned = 'many', study = x'00ff', status = 7, details = '[]'"),
    ):
        with sqlite3.connect(root / name / "run.sqlite") as link:
            link.execute(change)
        link.close()


def test_broken_runs_are_rows_that_say_what_is_wrong(tmp_path: Path) -> None:
    spoil(tmp_path)
    with served(tmp_path) as server:
        text = ask(server, "/").text
        assert order(text) == ["later", "early"]
        assert "file is not a database" in text and "written by a newer Assay" in text
        for name in ("text", "torn", "future", "odd"):
            assert f"<b>{name}</b>" in text
            for address in (f"/run/{name}", f"/run/{name}/export.csv", f"/compare?a=early&b={name}"):
                assert ask(server, address).status == 422, address
        assert ask(server, "/run/early").status == 200


def test_a_verdict_that_is_none_is_named_and_not_obeyed(tmp_path: Path) -> None:
    two(tmp_path)
    with RunStore.open(tmp_path / "early", write=True) as run:
        run._db.execute("UPDATE results SET verdict = ?", (f'"{EVIL}',))
    with served(tmp_path) as server:
        text = ask(server, "/").text
    assert order(text) == ["later"]
    assert "unknown verdict" in text and "&lt;script&gt;alert" in text
    assert "<script>alert" not in text and "\x1b" not in text and "\u202e" not in text


def test_nothing_that_a_run_says_is_obeyed(tmp_path: Path) -> None:
    two(tmp_path)
    name = "a <b>&\"'%2e é"
    (tmp_path / "early").rename(tmp_path / name)
    with RunStore.open(tmp_path / name, write=True) as run:
        details = json.loads(run._db.execute("SELECT details FROM run").fetchone()[0])
        details |= {"answers": [EVIL], "hosts": [EVIL]}
        words = (EVIL, EVIL, json.dumps(details))
        run._db.execute("UPDATE run SET study = ?, question = ?, details = ?", words)
    slug = quote(name, safe="")
    with served(tmp_path) as server:
        text = ask(server, "/").text
        assert order(text) == ["later", slug]
        pages = [text, ask(server, f"/?study={quote(EVIL)}").text, ask(server, f"/run/{slug}").text]
        pages += [ask(server, f"/compare?a={quote(slug)}&b=later").text, ask(server, f"/run/{quote(EVIL)}").text]
        for page in pages:
            assert "<script>alert" not in page and "\x1b" not in page and "\u202e" not in page and "<b>&" not in page
        assert "&lt;script&gt;alert" in text and slug in text
        sent = ask(server, f"/compare?run={quote(slug)}&run=later").headers["Location"]
        assert ask(server, sent).status == 200
        saved = ask(server, f"/run/{slug}/export.csv").headers["Content-Disposition"]
        assert re.fullmatch(r'attachment; filename="[A-Za-z0-9._-]+\.csv"', saved)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "/run/",
            "/run/nothing",
            "/run/..",
            "/run/../secret",
            "/run/%2e%2e",
            "/run/..%2fsecret",
            "/run/%2fetc%2fpasswd",
        ),
        *("/../../etc/passwd", "/run/early/../../secret", "/run/early/run.sqlite", "/run/early/study.yaml", "/x", "//"),
        *("/run/early/", "/run/early/export.csv/", "/run/%00", "/run/%ff", "/run/" + "a" * 5000, "/run/last", "/run/e"),
    ],
)
def test_addresses_lead_to_listed_runs_only(tmp_path: Path, address: str) -> None:
    two(tmp_path / "runs")
    store_run(tmp_path, "secret", SPEEDS)
    with served(tmp_path / "runs") as server:
        found = ask(server, address)
        assert found.status == 404 or (address == "//" and found.status == 200)
        assert "SQLite" not in found.text and "root:" not in found.text


def test_what_makes_no_sense_is_refused_and_the_server_goes_on(tmp_path: Path) -> None:
    two(tmp_path)
    with served(tmp_path) as server:
        assert ask(server, "/?" + "&".join(["a=b"] * 1000)).status == 400
        assert ask(server, "/" + "a" * 70_000).status == 414
        assert [ask(server, f"/?page={page}").status for page in ("0", "-1", "x", "9" * 400, "7")] == [200] * 5
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            found = ask(server, "/run/early", method)
            assert (found.status, found.headers["Allow"]) == (405, "GET, HEAD")
        assert ask(server, "/", "BREW").status == 501
        with socket.create_connection(server.server_address[:2]) as link:
            link.sendall(b"\x16\x03\x01\x00\xff no http\r\n\r\n")
            assert b"SQLite" not in link.recv(1 << 16)
        assert ask(server, "/").status == 200
    assert sorted(path.name for path in tmp_path.iterdir()) == ["early", "later"]


def test_a_head_is_the_answer_without_its_text(tmp_path: Path) -> None:
    two(tmp_path)
    with served(tmp_path) as server:
        whole, head = ask(server, "/"), ask(server, "/", "HEAD")
        assert (head.status, head.body) == (200, b"")
        assert head.headers["Content-Length"] == str(len(whole.body))


def test_every_answer_tells_the_browser_to_be_careful(tmp_path: Path) -> None:
    two(tmp_path)
    with served(tmp_path) as server:
        for address in (
            "/",
            "/run/early",
            "/run/nothing",
            "/compare?a=early&b=later",
            "/compare",
            "/run/early/export.csv",
        ):
            headers = ask(server, address).headers
            assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "no-referrer")
            assert headers["Cache-Control"] == "no-store" and headers["X-Frame-Options"] == "DENY"
            policy = headers["Content-Security-Policy"]
            assert "csv" in address or "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in ask(server, "/").headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(("127.0.0.1:8090", 200), ("localhost", 200), ("LOCALHOST:1", 200), ("[::1]:8090", 200), ("10.1.2.3", 200)),
        *(("evil.example", 421), ("evil.example:8090", 421), ("localhost.evil.example", 421), ("", 421)),
        *(("127.0.0.1.evil.example", 421), ("[evil]:1", 421)),
    ],
)
def test_on_loopback_a_name_from_elsewhere_is_refused(tmp_path: Path, host: str, status: int) -> None:
    two(tmp_path)
    with served(tmp_path) as server:
        found = ask(server, "/", Host=host)
        assert found.status == status
        assert ("early" in found.text) == (status == 200)


def test_elsewhere_any_name_will_do(tmp_path: Path) -> None:
    with served(tmp_path, "0.0.0.0") as server:
        assert not server.loopback
        assert ask(server, "/", Host="runs.example").status == 200


def test_many_at_once_get_what_each_asked_for(tmp_path: Path) -> None:
    two(tmp_path)
    addresses = ["/", "/run/early", "/run/later", "/compare?a=early&b=later", "/run/early/export.json", "/run/no"] * 4
    with served(tmp_path) as server, ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda address: ask(server, address), addresses))
    assert [one.status for one in found] == [200, 200, 200, 200, 200, 404] * 4
    for address in set(addresses[:5]):
        assert len({one.body for at, one in zip(addresses, found, strict=True) if at == address}) == 1, address


def test_a_page_in_the_making_holds_up_nobody_else(tmp_path: Path) -> None:
    two(tmp_path)
    with served(tmp_path) as server, ThreadPoolExecutor(1) as pool:
        # What makes pages is held here, as a report of hours would hold it.
        with server.folder._pages._making:
            waiting = pool.submit(ask, server, "/run/early")
            assert ask(server, "/").status == 200
            assert not waiting.done()
        assert waiting.result().status == 200


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with Server(RunsFolder(tmp_path), "127.0.0.1", 0) as server:
        said = assay(tmp_path, "serve", "runs", "--port", server.server_port, expect=2)
    assert said.stderr.splitlines()[0] == (
        f"error: cannot listen at 127.0.0.1, port {server.server_port}: address already in use"
    )
    assert said.stderr.splitlines()[1].startswith("hint: choose another port with --port")


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1"])
def test_an_address_that_is_not_ours_is_one_line(tmp_path: Path, host: str) -> None:
    (tmp_path / "runs").mkdir()
    said = assay(tmp_path, "serve", "runs", "--host", host, "--port", "0", expect=2).stderr.splitlines()
    assert said[0].startswith(f"error: cannot listen at {host}, port 0: ")
    assert said[1:] == ["hint: give an address of this machine with --host"]


def test_loopback_of_the_other_family_will_do(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(served(tmp_path, "::1"))
        except AssayError:
            pytest.skip("this machine has no IPv6")
        assert server.address == f"http://[::1]:{server.server_port}/"
        assert ask(server, "/").status == 200 and ask(server, "/", Host="evil.example").status == 421


def test_what_is_no_folder_of_runs_is_refused(tmp_path: Path) -> None:
    two(tmp_path)
    said = assay(tmp_path, "serve", "nowhere", expect=2).stderr
    assert said.splitlines()[0] == "error: there is no folder nowhere"
    assert "early is a run, not a folder of runs" in assay(tmp_path, "serve", "early", expect=2).stderr


def test_the_command_serves_until_it_is_stopped(tmp_path: Path) -> None:
    two(tmp_path / "assay-runs")
    words = [ASSAY, "serve", "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout and process.stderr
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        with urllib.request.urlopen(address, timeout=600) as page:
            assert order(page.read().decode()) == ["later", "early"]
        os.kill(process.pid, signal.SIGINT)
        rest, said = process.communicate(timeout=600)
    assert (process.returncode, rest) == (0, "")
    assert said.splitlines() == ["the runs of assay-runs; Ctrl-C ends it", "ended"]


def test_whoever_opens_it_to_others_is_warned(tmp_path: Path) -> None:
    two(tmp_path / "assay-runs")
    words = [ASSAY, "serve", "--port", "0", "--host", "0.0.0.0"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 0
    assert said.splitlines()[0].startswith("warning: there is no password: anyone who reaches http://0.0.0.0:")


def test_a_long_list_has_pages(tmp_path: Path) -> None:
    whole = store_run(tmp_path, "run-000", {("disk", "write"): [1e8, 1.1e8]})
    for number in range(1, RUNS_PER_PAGE + 3):
        shutil.copytree(whole, tmp_path / f"run-{number:03}")
    with served(tmp_path) as server:
        first, second = (ask(server, address).text for address in ("/?study=nightly", "/?study=nightly&page=2"))
    assert (len(order(first)), len(order(second))) == (RUNS_PER_PAGE, 3)
    assert set(order(first)).isdisjoint(order(second))
    assert '<a href="/?study=nightly&amp;page=2">older</a>' in first and "newer</a>" not in first
    assert '<a href="/?study=nightly&amp;page=1">newer</a>' in second and "older</a>" not in second
    assert f"page 1 of 2, {RUNS_PER_PAGE + 3} runs" in first
