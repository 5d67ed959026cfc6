"""Descriptions of servers: what they may say, and what becomes of them on a host."""

from pathlib import Path

import pytest

from assay.model.base import AssayError
from assay.model.site.box_servers import BoxServer
from assay.servers.filled_server import FilledServer, ServerCommand, ServerPlace, fill, find_words
from assay.servers.kinds import FOLDER, OFFERS, ServerKind, check_server, kind_names, load_kind

BASE = """
kind: ring
description: a small server
install_hint: "get it from its maker"
configuration: |
  peers=$peers members=$members first=$first data=$data
  $exports$devices$buckets$tables$users
export: "export $number $path;"
device: "device $name at $path;"
bucket: "bucket $name in $data/$name;"
table: "table $name;"
user: "user $user;"
before:
  - {run: [passwd, $user], each: user, stdin: "$password\\n$password\\n"}
start:
  - [serve, $address, $configuration]
foreground: true
after_ready:
  - {run: [join, $peer], each: peer, after: all}
  - {run: [make, "$name"], each: bucket}
  - {run: [found, $members], on: first, after: all}
ready: ["http://$address:8000/up", "8001"]
pidfile: /run/ring.pid
"""
FRONT = """
kind: front
description: passes a bucket on as a directory
install_hint: "get it from its maker"
start:
  - [front, $upstream, $source, $mount]
foreground: true
pidfile: /run/front.pid
bucket: ""
"""
OFFERED = BoxServer.model_validate(
    {
        "kind": "ring",
        "exports": ["/a/x"],
        "devices": ["raw"],
        "buckets": ["one", "two"],
        "tables": ["tab"],
        "users": ["ann"],
        "data": "/a",
    }
)
PEERS = {"s1": "10.0.0.1", "s2": "10.0.0.2", "s3": "10.0.0.3"}


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of descriptions of one's own, with `ring` in it."""
    (tmp_path / "ring.yaml").write_text(BASE)
    monkeypatch.setenv("ASSAY_SERVERS", str(tmp_path))
    return tmp_path


def filled(host: str = "s2", server: BoxServer = OFFERED) -> FilledServer:
    place = ServerPlace(host, PEERS[host], Path("/c/ring.conf"), PEERS, {"raw": "/dev/loop7"}, {"ann": "s3cret"})
    return FilledServer(load_kind("ring"), server, place)


def test_own_descriptions_are_found_beside_those_of_assay(own: Path) -> None:
    assert set(kind_names()) == {path.stem for path in FOLDER.glob("*.yaml")} | {"ring"}
    assert load_kind("ring").foreground
    (own / "other.yaml").write_text(BASE)
    with pytest.raises(AssayError, match=r"other\.yaml: it has `kind: ring`"):
        load_kind("other")


def test_a_configuration_has_all_that_is_offered(own: Path) -> None:
    assert filled().configuration().splitlines() == [
        "peers=10.0.0.1,10.0.0.3 members=10.0.0.1,10.0.0.2,10.0.0.3 first=10.0.0.1 data=/a",
        "export 1 /a/x;device raw at /dev/loop7;bucket one in /a/one;bucket two in /a/two;table tab;user ann;",
    ]


def test_peers_may_have_a_part_of_the_configuration(own: Path) -> None:
    (own / "ring.yaml").write_text(BASE + 'peer: "[$name $peer]"\n')
    assert filled("s1").configuration().startswith("peers=[s2 10.0.0.2][s3 10.0.0.3] members=")


def test_passwords_go_to_standard_input_and_nowhere_else(own: Path) -> None:
    found = filled()
    commands = found.commands(found.kind.steps)
    assert commands[0] == ServerCommand(("passwd", "ann"), "s3cret\ns3cret\n")
    assert "s3cret" not in found.configuration() + repr(commands) + repr(found.place)
    assert not any("s3cret" in word for command in commands for word in command.argv)


@pytest.mark.parametrize(("host", "founds"), [("s1", True), ("s2", False)])
def test_steps_are_for_each_thing_and_some_for_the_first_server_only(own: Path, host: str, founds: bool) -> None:
    found = filled(host)
    assert found.commands(found.kind.start) == [ServerCommand(("serve", PEERS[host], "/c/ring.conf"))]
    all_up = [
        command.argv for command in found.commands(step for step in found.kind.after_ready if step.after == "all")
    ]
    joins = [("join", address) for name, address in PEERS.items() if name != host]
    assert all_up == joins + [("found", "10.0.0.1,10.0.0.2,10.0.0.3")] * founds
    own_up = [
        command.argv for command in found.commands(step for step in found.kind.after_ready if step.after == "own")
    ]
    assert own_up == [("make", "one"), ("make", "two")]
    assert found.services() == [f"http://{PEERS[host]}:8000/up", f"{PEERS[host]}:8001"]


def test_a_server_that_needs_a_directory_says_so(own: Path) -> None:
    with pytest.raises(AssayError, match="lab: s1: ring keeps its data in a directory, and none is named") as caught:
        check_server(BoxServer.model_validate({"kind": "ring", "buckets": ["one"]}), "lab: s1")
    assert "`data: /export`" in caught.value.hint


def test_what_passes_on_another_server_knows_where_that_is_and_where_to_mount_it(own: Path) -> None:
    (own / "front.yaml").write_text(FRONT)
    written = {"kind": "front", "mount": "/files", "source": "s1:one"}
    server = BoxServer.model_validate(written)
    check_server(server, "lab: c1")
    assert [(offer.kind, offer.name) for offer in server.offers] == [("directory", "/files")]
    found = FilledServer(load_kind("front"), server, ServerPlace("c1", "10.0.0.9", Path("/c"), upstream=PEERS["s1"]))
    assert found.commands(found.kind.start) == [ServerCommand(("front", "10.0.0.1", "one", "/files"))]
    assert found.services() == []
    for key, hint in (("mount", "`mount: /files`"), ("source", "`source: server1:my-bucket`")):
        less = {name: value for name, value in {"buckets": ["one"], **written}.items() if name != key}
        with pytest.raises(AssayError, match="and none is named") as caught:
            check_server(BoxServer.model_validate(less), "lab: c1")
        assert hint in caught.value.hint


def test_a_server_that_neither_answers_nor_mounts_cannot_be_waited_for(own: Path) -> None:
    (own / "front.yaml").write_text(FRONT.replace("$mount", ""))
    with pytest.raises(AssayError, match="how to find out that the server is ready is missing"):
        load_kind("front")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('install_hint: "get it from its maker"\n', ""), "how to install the server is missing"),
        (("start:\n", "start:\n  - {run: [x], after: all}\n"), "only steps of `after_ready` wait for all servers"),
        (("- [serve, $address, $configuration]", "- {run: [serve], each: device}"), "is one process on each host"),
        (("- [serve, $address, $configuration]", "- {run: [serve], stdin: x}"), "without standard input"),
        (("- [serve, $address, $configuration]", "- {run: [serve], on: first}"), "is one process on each host"),
        (("[passwd, $user]", "[passwd, $user, $password]"), r"\$password is used outside of `stdin`"),
        (('user: "user $user;"', 'user: "user $user ${password};"'), r"\$password is used outside of `stdin`"),
        (("each: peer", "each: friend"), "friend"),
    ],
)
def test_what_a_description_may_not_say(own: Path, change: tuple[str, str], message: str) -> None:
    assert change[0] in BASE
    (own / "ring.yaml").write_text(BASE.replace(*change, 1))
    with pytest.raises(AssayError, match=message):
        load_kind("ring")


VBLADE = {"kind": "vblade", "devices": ["d"]}


@pytest.mark.parametrize(
    ("server", "message", "hint"),
    [
        ({"kind": "nfs-ganesha", "buckets": ["one"]}, "lab: s1: nfs-ganesha offers no buckets", "it offers exports"),
        ({"kind": "nfs-ganesha"}, "lab: s1: nfs-ganesha offers nothing", "`exports: [NAME]`"),
        ({"kind": "slurm", "exports": ["/x"]}, "lab: s1: slurm offers no exports", "it offers nothing"),
        ({"kind": "nfs-ganesha", "exports": ["/x"], "users": ["ann"]}, "nfs-ganesha has no users", "leave out"),
        (
            {"kind": "nfs-ganesha", "exports": ["/x"], "source": "s1:one"},
            "nfs-ganesha does not use `source`",
            "leave out `source`",
        ),
        ({"kind": "nfs-ganesha", "exports": ["/x"], "data": "/x"}, "nfs-ganesha does not use `data`", "leave out"),
        ({**VBLADE, "options": {"shelf": 65535}}, "vblade has no shelf: 65535", "write 0 to 65534"),
        ({**VBLADE, "options": {"shelves": 1}}, "vblade has no option shelves", "shelf, slot"),
        ({"kind": "gnaesha", "exports": ["/x"]}, "no kind of server is called `gnaesha`", ""),
    ],
)
def test_a_box_asks_of_a_server_only_what_it_can(server: dict[str, object], message: str, hint: str) -> None:
    with pytest.raises(AssayError, match=message) as caught:
        check_server(BoxServer.model_validate(server), "lab: s1")
    assert hint in caught.value.hint


@pytest.mark.parametrize("name", kind_names())
def test_each_kind_of_assay_can_be_filled_in_for_what_it_offers(name: str) -> None:
    kind = load_kind(name)
    written = {key: ["/one", "/two"] if thing == "export" else ["one", "two"] for thing, key in OFFERS.items()}
    offered = {
        key: names
        for (thing, key), names in zip(OFFERS.items(), written.values(), strict=True)
        if kind.has_part_for(thing)
    }
    stated = {"data": "/data", "mount": "/files", "source": "s2:one"}
    offered |= {key: value for key, value in stated.items() if kind.needs(key)}
    server = BoxServer.model_validate({"kind": name, **offered})
    check_server(server, "lab: s1")
    devices = {"one": "/dev/one", "two": "/dev/two"}
    place = ServerPlace("s", "10.0.0.1", Path("/c"), devices=devices, upstream="10.0.0.2")
    found = FilledServer(kind.model_copy(update={"find": {}}), server, place)
    found.words.update(dict.fromkeys(kind.find, "/f"))
    text = found.configuration()
    # A shell has words of its own.
    shell = any("$$" in part for part in kind.texts)
    assert shell or "$" not in text
    words = [word for command in found.commands(kind.steps) for word in command.argv]
    assert shell or all("$" not in word for word in words)
    told = "\n".join([text, *words])
    assert told.count("/one") == told.count("/two")
    assert "/one" in told or not {"exports", "devices"} & set(offered)


def test_a_word_that_no_server_knows_is_refused() -> None:
    with pytest.raises(AssayError, match="unknown word: 'nothing'"):
        fill("x $nothing", {"host": "s"})


def test_a_program_in_no_package_is_missed_with_the_way_to_get_it(own: Path) -> None:
    (own / "ring.yaml").write_text(BASE + "find: {program: [/nowhere/ring, /nowhere/*/ring]}\n")
    with pytest.raises(AssayError, match="ring: none of /nowhere/ring, /nowhere/") as caught:
        find_words(load_kind("ring"))
    assert caught.value.hint == "get it from its maker"


def test_a_kind_without_more_offers_what_its_steps_are_for() -> None:
    plain = {"kind": "k", "description": "d", "install_hint": "o", "ready": ["1"], "pidfile": "/p"}
    kind = ServerKind.model_validate({**plain, "start": [{"run": ["x", "$path"], "each": "device"}]})
    assert [kind.has_part_for(thing) for thing in ("export", "device", "bucket")] == [False, True, False]
