"""`assay audit`: files, folders and runs; text, JSON and SARIF; exit codes; what cannot be read."""

import json
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from fio_samples import path_of, text_of
from in_process import run_here
from stored_runs import noisy, store_run

FALSE = text_of("3.33-read").replace('"bw_bytes" : ', '"bw_bytes" : 9')


def audit(folder: Path, *words: object, code: int = 0) -> CompletedProcess[str]:
    done = run_here(folder, "audit", *words)
    assert done.returncode == code, done.stderr
    return done


def test_a_file_a_folder_and_a_run_have_the_same_findings(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "false.json").write_text(FALSE)
    (tmp_path / "logs" / "readme.md").write_text("No output of a tool.\n")
    assert run_here(tmp_path, "import", "logs/false.json").returncode == 0
    (run,) = (tmp_path / "assay-runs").iterdir()
    file, folder, imported = (audit(tmp_path, name, code=1) for name in ("logs/false.json", "logs", run.name))
    assert file.stdout == folder.stdout == imported.stdout
    assert "error: logs/false.json:8: " in file.stdout and "[rate-from-bytes]" in file.stdout
    assert file.stderr == "" and "not read: logs/readme.md" in folder.stderr


def test_the_report_of_an_imported_run_has_the_findings(tmp_path: Path) -> None:
    (tmp_path / "false.json").write_text(FALSE)
    shutil.copy(path_of("3.33-direct"), tmp_path / "true.json")
    for name, expected in (("false.json", "rate-from-bytes"), ("true.json", "short-time")):
        assert run_here(tmp_path, "import", name).returncode == 0
        assert run_here(tmp_path, "report", "last", "--output", "r.html").returncode == 0
        assert expected in (tmp_path / "r.html").read_text()


def test_runs_of_assay_are_audited_by_the_same_rules(tmp_path: Path) -> None:
    store_run(tmp_path / "assay-runs", "own", {("disk", "write"): noisy(300e6, 4, seed=1)})
    done = audit(tmp_path, "own")
    assert "4 results in 1 file: 0 errors, 0 warnings" in done.stdout


def test_findings_are_printed_as_json_and_as_sarif(tmp_path: Path) -> None:
    (tmp_path / "false.json").write_text(FALSE)
    document = json.loads(audit(tmp_path, "false.json", "--json", code=1).stdout)
    worst = document["findings"][0]
    assert (document["schema_version"], document["files"], document["results"]) == (1, 1, 1)
    assert (worst["rule"], worst["severity"], worst["file"], worst["line"]) == (
        "rate-from-bytes",
        "error",
        "false.json",
        8,
    )
    (run,) = json.loads(audit(tmp_path, "false.json", "--sarif", code=1).stdout)["runs"]
    first = run["results"][0]
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 8}
    assert {result["ruleId"] for result in run["results"]} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}


def test_facts_find_what_the_output_alone_does_not_show(tmp_path: Path) -> None:
    shutil.copy(path_of("3.33-read"), tmp_path / "a.json")
    audit(tmp_path, "a.json")
    (tmp_path / "facts.yaml").write_text("link: 1Gb/s\n")
    assert "[above-network]" in audit(tmp_path, "a.json", "--facts", "facts.yaml", code=1).stdout
    (tmp_path / "facts.yaml").write_text("client: m5.4xlarge\n")
    assert "[data-within-memory]" in audit(tmp_path, "a.json", "--facts", "facts.yaml", code=1).stdout


@pytest.mark.parametrize(
    ("words", "facts", "message"),
    [
        (("none.json",), "", "none.json: no such file"),
        (("a.txt",), "", "a.txt: not a format that Assay can import"),
        (("folder",), "", "folder: no file that Assay can import"),
        (("a.json", "--json", "--sarif"), "", "--json and --sarif"),
        (("a.json", "--facts", "none.yaml"), "", "cannot read the facts none.yaml"),
        (("a.json", "--facts", "facts.yaml"), "link: fast\n", "facts.yaml:1: link: `fast` is not a throughput"),
        (("a.json", "--facts", "facts.yaml"), "link: 10\n", "facts.yaml:1: link: 10 is not a throughput"),
        (("a.json", "--facts", "facts.yaml"), "clients: 0\n", "facts.yaml:1: clients: 0 is no number of hosts"),
        (("a.json", "--facts", "facts.yaml"), "lnk: 1Gb/s\n", "facts.yaml:1: unknown key `lnk`"),
        (("a.json", "--facts", "facts.yaml"), "client: m99.huge\n", "m99.huge"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path: Path, words: tuple[str, ...], facts: str, message: str) -> None:
    shutil.copy(path_of("3.33-read"), tmp_path / "a.json")
    (tmp_path / "a.txt").write_text("hello\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "facts.yaml").write_text(facts)
    done = audit(tmp_path, *words, code=2)
    assert done.stdout == "" and message in done.stderr.splitlines()[0], done.stderr
    assert done.stderr.startswith("error: ") and "Traceback" not in done.stderr


def test_facts_complete_each_other(tmp_path: Path) -> None:
    shutil.copy(path_of("3.33-read"), tmp_path / "a.json")
    for name, text in (("a", "memory: 60GiB\nclients: 1\n"), ("b", "link: 1Gb/s\n"), ("c", "memory: 50GiB\n")):
        (tmp_path / f"{name}.yaml").write_text(text)
    done = audit(tmp_path, "a.json", "--facts", "a.yaml", "--facts", "b.yaml", code=1)
    assert "[above-network]" in done.stdout and "[data-within-memory]" in done.stdout
    done = audit(tmp_path, "a.json", "--facts", "a.yaml", "--facts", "c.yaml", code=2)
    assert done.stderr.startswith("error: c.yaml: memory is another one in a.yaml")


def test_a_run_keeps_the_facts_of_its_import(tmp_path: Path) -> None:
    shutil.copy(path_of("3.33-read"), tmp_path / "a.json")
    (tmp_path / "facts.yaml").write_text("memory: 60GiB\nclients: 1\nlink: 1Gb/s\ndevice_read: 1333333333B/s\n")
    (tmp_path / "other.yaml").write_text("memory: 50GiB\n")
    assert run_here(tmp_path, "import", "a.json", "--facts", "facts.yaml").returncode == 0
    audited = audit(tmp_path, "last", code=1)
    assert audited.stdout == audit(tmp_path, "a.json", "--facts", "facts.yaml", code=1).stdout
    assert all(rule in audited.stdout for rule in ("above-network", "above-devices", "the clients' memory, 60GiB"))
    other = audit(tmp_path, "last", "--facts", "other.yaml", code=1).stdout
    assert "above-network" in other and "the clients' memory, 50GiB" in other
    assert run_here(tmp_path, "report", "last", "--output", "r.html").returncode == 0
    page = (tmp_path / "r.html").read_text()
    assert "clients 1, memory 60GiB, link 125 MB/s" in page and "above-network" in page
    assert "link         125 MB/s" in run_here(tmp_path, "env", "last").stdout


def test_tables_of_a_folder_are_audited_by_their_headings_or_named_with_the_next_command(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    rows = ["a,3,6.5", "b,5,10.5", "c,7,14.5", "d,4,9.5", "e,9,18.5"]
    (tmp_path / "logs" / "rates.csv").write_text("disk,GB/s,MB/s\n" + "\n".join(rows) + "\n")
    (tmp_path / "logs" / "plain.csv").write_text("a,b\nx,1\ny,2\n")
    (tmp_path / "logs" / "sure.csv").write_text("disk,read MB/s\na,3\n")
    (tmp_path / "logs" / "sure.roles.yaml").write_text(
        "columns:\n  disk: target\n  read MB/s: {role: throughput, unit: MB/s, operation: read}\n"
    )
    done = audit(tmp_path, "logs")
    assert done.stderr.splitlines() == [
        "not read: logs/plain.csv: a table, and nothing says what its columns are:"
        " `assay import logs/plain.csv --write-roles logs/plain.roles.yaml` writes a guess to check",
        "audited by its headings, without a roles file: logs/rates.csv;"
        " `assay import logs/rates.csv --write-roles logs/rates.roles.yaml` writes a guess to check",
    ]
    assert "1 result in 1 file; 5 rows of 1 table: 0 errors" in done.stdout
    named = audit(tmp_path, "logs/plain.csv")
    assert "audited by its headings" in named.stderr and named.stdout.startswith("2 rows of 1 table: ")
