"""Command lines above fio's text: what was tested, and what the text does not say."""

import pytest
from imported_samples import FILE, sample_text

from assay.rooms.importers.work.fio_text import importer
from assay.rooms.importers.work.fio_text.typed_command import begins_command, read_command

OUTPUT = sample_text("fio", "3.0-randrw.txt")
JOB = "m"


def targets_of(text: str) -> list[str]:
    return [one.target for output in importer.read(text, FILE) for one in output.results if one.measured]


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("[root@host ~]# fio --name=a --rw=read", "fio --name=a --rw=read"),
        ("$ sudo LC_ALL=C /usr/bin/fio -name=a", "/usr/bin/fio -name=a"),
        ("fio --name a | tee log", "fio --name a | tee log"),
        ("fio-3.33", ""),
        ("fio job.fio", ""),
        ("a: (groupid=0, jobs=1): err= 0", ""),
        ("see fio --help", ""),
    ],
)
def test_command_lines_are_known(line: str, typed: str) -> None:
    assert begins_command(line) == typed


def test_options_of_a_command_are_those_of_its_jobs() -> None:
    command = read_command("fio --size 1g --time_based --name=a --blocksize=4k --name=b --filename=/x:/y > log")
    assert command.options_of("a") == {"size": "1g", "time_based": "1", "bs": "4k"}
    assert command.options_of("b") == {"size": "1g", "time_based": "1", "filename": "/x:/y"}
    assert (command.target_of("a"), command.target_of("b"), command.target_of("c")) == ("", "/x:/y", "")


def test_a_command_says_nothing_where_a_job_file_or_a_variable_may_say_more() -> None:
    assert read_command("fio --name=a --filename=/x job.fio").options_of("a") == {}
    assert read_command("fio --name=a --filename=$DISK").target_of("a") == ""
    assert read_command("fio --name='a --filename=/x").text == ""


def test_passwords_of_a_command_are_not_kept() -> None:
    command = read_command("fio --name=a --ioengine=http --http_s3_key=SECRET123 --filename=/x")
    assert "SECRET123" not in command.text + str(command.options_of("a"))


def test_each_output_has_the_command_above_it() -> None:
    first, second = (f"$ fio --name={JOB} \\\n  --size=4m --filename=/dev/{disk}\n" for disk in ("sda", "sdb"))
    assert set(targets_of(OUTPUT)) == {"fio"}
    assert set(targets_of(first + OUTPUT)) == {"/dev/sda"}
    both = targets_of(first + OUTPUT + second + OUTPUT)
    assert both == ["/dev/sda"] * (len(both) // 2) + ["/dev/sdb"] * (len(both) // 2)
    assert set(targets_of(first + OUTPUT + OUTPUT)) == {"/dev/sda", "fio"}
    (output,) = importer.read(first + OUTPUT, FILE)
    assert output.file.command.startswith("fio --name=m") and output.results[0].options["size"] == "4m"


def test_a_job_that_its_runtime_ended_is_known() -> None:
    command = f"$ fio --name={JOB} --size=4m"
    found = [
        importer.read(f"{command} {more}\n{OUTPUT}", FILE)[0].results[0].measured
        for more in ("", "--runtime=1ms", "--runtime=1h")
    ]
    assert [one.status for one in found if one] == ["done", "time_limit", "done"]
