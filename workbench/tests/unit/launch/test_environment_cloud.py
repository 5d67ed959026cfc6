"""What a cloud's metadata service is asked, and what becomes of its answers."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from made_machine import machine

from assay.launch.environment import capture_environment
from assay.launch.environment.cloud import AZURE_TAG, describe_cloud
from assay.launch.environment.reading import Files

DMI = "/sys/class/dmi/id"
Asked = list[tuple[str, str, str]]
AMAZON = {"sys_vendor": "Amazon EC2"}
ANSWERS = {
    ("PUT", "/latest/api/token"): "the-token",
    ("GET", "/latest/meta-data/instance-type"): "i4i.large\n",
    ("GET", "/latest/meta-data/placement/availability-zone"): "eu-central-1a",
    ("GET", "/latest/meta-data/ami-id"): "ami-0123456789abcdef0",
    ("GET", "/latest/meta-data/placement/group-name"): "nfs1-hosts",
    ("GET", "/computeMetadata/v1/instance/machine-type"): "projects/1/machineTypes/n2-standard-8",
    ("GET", "/computeMetadata/v1/instance/zone"): "projects/1/zones/europe-west1-b",
    ("GET", "/metadata/instance/compute?api-version=2021-02-01"): json.dumps(
        {"vmSize": "Standard_L8s_v3", "location": "westeurope", "zone": "2", "customData": "secret"}
    ),
}
OF_AMAZON = ("ami-0123456789abcdef0", "nfs1-hosts")
NEEDED = {"/latest/meta": ("X-aws-ec2-metadata-token", "the-token"), "/compute": ("Metadata-Flavor", "Google")}
NEEDED["/metadata"] = ("Metadata", "true")


@contextmanager
def metadata_service(answers: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, Asked]]:
    """A service that wants the right headers; an answer `-> address` is a redirection, `...` silence."""
    asked: Asked = []
    quiet = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.command, self.path, str(self.headers)))
            text = answers.get((self.command, self.path), "")
            needed = next((pair for start, pair in NEEDED.items() if self.path.startswith(start)), None)
            if text == "...":
                quiet.wait(30)
            refused = not text or (needed is not None and self.headers.get(needed[0]) != needed[1])
            self.send_response(403 if refused else 302 if text.startswith("->") else 200)
            if text.startswith("->"):
                self.send_header("Location", text[3:])
            self.end_headers()
            self.wfile.write(text.encode())

        do_PUT = do_GET  # noqa: N815

        def log_message(self, *arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        quiet.set()
        server.shutdown()
        thread.join()
        server.server_close()


def firmware(root: Path, **told: str) -> Files:
    return machine(root, {f"{DMI}/{name}": text for name, text in told.items()})


AZURE = {"sys_vendor": "Microsoft Corporation", "chassis_asset_tag": AZURE_TAG}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (AMAZON, ("Amazon EC2", "i4i.large", "eu-central-1a", *OF_AMAZON)),
        (
            {"sys_vendor": "Xen", "bios_version": "4.11.amazon"},
            ("Amazon EC2", "i4i.large", "eu-central-1a", *OF_AMAZON),
        ),
        ({"sys_vendor": "Google"}, ("Google", "n2-standard-8", "europe-west1-b")),
        (AZURE, ("Microsoft Azure", "Standard_L8s_v3", "westeurope 2")),
    ],
)
def test_each_cloud_tells_what_the_instance_is_and_nothing_else_is_kept(
    tmp_path: Path, told: dict[str, str], expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with metadata_service(ANSWERS) as (service, _):
        found = capture_environment({}, firmware(tmp_path, **told), service)["cloud"]
    assert found == dict(zip(("provider", "instance_type", "zone", "image", "placement_group"), expected, strict=False))


def test_an_instance_of_no_placement_group_says_so(tmp_path: Path) -> None:
    answers = {key: text for key, text in ANSWERS.items() if "group" not in key[1]}
    with metadata_service(answers) as (service, _):
        found = describe_cloud(firmware(tmp_path, **AMAZON), service)
    assert (found["image"], found["placement_group"]) == (OF_AMAZON[0], "none")


@pytest.mark.parametrize(
    "told", [{}, {"sys_vendor": "QEMU"}, {"sys_vendor": "Microsoft Corporation", "chassis_asset_tag": "7"}]
)
def test_nothing_is_asked_unless_the_firmware_names_a_cloud(tmp_path: Path, told: dict[str, str]) -> None:
    with metadata_service(ANSWERS) as (service, asked):
        found = describe_cloud(firmware(tmp_path, **told), service)
    assert (found, asked) == ({"provider": "none: the firmware names no cloud provider"}, [])


@pytest.mark.parametrize(
    ("answer", "reason"), [("", "status 403"), ("...", "timed out"), ("-> http://127.0.0.1:1/", "status 302")]
)
def test_after_the_first_failure_nothing_more_is_asked(tmp_path: Path, answer: str, reason: str) -> None:
    answers = {**ANSWERS, ("PUT", "/latest/api/token"): answer}
    with metadata_service(answers) as (service, asked):
        found = describe_cloud(firmware(tmp_path, **AMAZON), service)
    assert found["provider"] == "Amazon EC2"
    assert found["instance_type"].startswith("unknown: the metadata service: ")
    assert found["instance_type"].endswith(reason)
    assert [(method, path) for method, path, _ in asked] == [("PUT", "/latest/api/token")]


def test_answers_that_are_no_answers_are_no_error(tmp_path: Path) -> None:
    tag = {"sys_vendor": "Microsoft Corporation", "chassis_asset_tag": AZURE_TAG}
    path = ("GET", "/metadata/instance/compute?api-version=2021-02-01")
    for answer in ("no json", "{}", '["x"]', '{"vmSize": 1, "location": "a\\nb\\u001b[31m"}'):
        with metadata_service({path: answer}) as (service, _):
            found = describe_cloud(firmware(tmp_path / str(len(answer)), **tag), service)
        if "vmSize" in answer:
            assert (found["instance_type"], found["zone"]) == ("1", "a b [31m")
        else:
            assert found["instance_type"].startswith("unknown: the metadata service: ")
    assert describe_cloud(firmware(tmp_path / "gone", **tag), service)["instance_type"].endswith("Connection refused")
