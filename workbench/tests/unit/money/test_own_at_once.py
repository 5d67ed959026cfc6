"""Own hardware that is read and written at once: what is shared, what redundancy adds, and which switches it takes."""

from itertools import pairwise

import pytest

from assay.model.base import AssayError
from assay.model.money.use import Use
from assay.money.books.books import load_book
from assay.money.cost.bill import make_bill
from assay.money.cost.designs import DESIGNS, design_names, load_template
from assay.money.cost.limits import METRICS, design_limits
from assay.money.cost.network_traffic import network_traffic, switch_count, used_ports
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.advise import advise

OWN = [name for name in design_names() if load_template(name).build().hardware]


def advice(design, settings, **changes):
    need = {"need": "x", "access": "file", "capacity": "100TB", "data": "scratch", "months": 60, "book": "own-2026"}
    need = {**need, "candidates": [{"design": design, "set": settings}], **changes}
    return advise(Need.model_validate(need), (load_book("own-2026"),))


def layers(name, **values):
    return {layer.layer: layer for layer in design_limits(load_template(name).build(values)).layers}


@pytest.mark.parametrize("name", OWN)
def test_what_stores_data_is_shared_and_links_are_not(name):
    design = load_template(name).build()
    found = {layer.layer: layer.shared for layer in design_limits(design).layers}
    for piece in design.hardware:
        if any(getattr(piece, metric) is not None for metric in METRICS):
            assert found[piece.item] == (piece.usable > 0 or "tape-drive" in piece.item)


@pytest.mark.parametrize(
    ("design", "settings", "read", "write", "shares"),
    [
        # 36 disks of 285 MB/s, of writes 237: 10.26 and 8.53 GB/s.
        ("own-beegfs", {"servers": 1, "groups": 3, "group": 12}, 9.0, 7.5, "87.7 % + 87.7 % = 175.4 %"),
        # 30 disks, of writes 228: 8.55 and 6.84.
        ("own-nfs-server", {"groups": 3, "group": 10}, 5.0, 5.0, "58.5 % + 73.1 % = 131.6 %"),
        # 144 disks, of writes 2 of 3 bytes are data: 41.04 and 27.36.
        ("own-ceph", {"nodes": 6, "disks": 24, "copies": "4+2"}, 30.0, 20.0, "73 % + 73 % = 146 %"),
    ],
)
def test_disks_that_each_rate_alone_fits_do_not_do_both(design, settings, read, write, shares):
    both = advice(design, settings, read=f"{read}GB/s", write=f"{write}GB/s")
    assert both.result != "recommended"
    (rejected,) = both.rejected
    assert shares in str(rejected)
    for side, rate in (("read", read), ("write", write)):
        assert advice(design, settings, **{side: f"{rate}GB/s"}).result == "recommended"


def test_servers_are_counted_for_both_ways_at_once():
    """160 GB/s of 285 MB/s at 90 % are 624 disks; with 40 GB/s of writing (237 MB/s) 812: 23 servers of 36."""
    for write, servers in ((None, 18), ("40GB/s", 23)):
        found = advice("own-beegfs", {"groups": [3], "disk": "24TB"}, read="160GB/s", write=write)
        (best,) = [each for each in found.options if each.label == found.recommended[0]]
        assert best.set["servers"] == servers


@pytest.mark.parametrize("copies", [1, 2, 3, "4+2", "8+3", "12+4"])
@pytest.mark.parametrize("nodes", [16, 20, 40])
def test_what_servers_send_each_other_others_receive(copies, nodes):
    design = load_template("own-ceph").build({"copies": copies, "nodes": nodes})
    traffic = network_traffic(design, nodes)
    assert traffic.received_for_write == pytest.approx(1 + traffic.sent_for_write)
    assert traffic.sent_for_read == pytest.approx(1 + traffic.received_for_read)
    assert traffic.received_for_write >= design.storage_factor or copies == 1
    assert (traffic.sent_for_write == 0) == (copies == 1)


def test_links_carry_copies_both_ways():
    """Six nodes of 12.5 GB/s each way."""
    found = layers("own-ceph", nodes=6, copies=3)
    ports, sent = found["ceph-server-4u36"], found["ceph-server-4u36 sending"]
    # Three copies: a node receives each byte, and sends it to two others, which receive it.
    assert (ports.read, ports.write, ports.shared) == (75e9, 25e9, False)
    assert (sent.read, sent.write, sent.shared) == (75e9, 37.5e9, True)
    found = layers("own-ceph", nodes=6, copies="4+2")
    ports, received = found["ceph-server-4u36"], found["ceph-server-4u36 receiving"]
    # A node keeps one part of 4+2 and sends five, a quarter of a byte each; it reads three from others.
    assert (ports.read, ports.write) == (pytest.approx(75e9 / 1.75), pytest.approx(75e9 / 2.25))
    assert (received.read, received.write, received.shared) == (pytest.approx(100e9), pytest.approx(75e9 / 2.25), True)


def test_clients_that_copy_leave_nothing_to_servers():
    assert not any(name.endswith("ing") for name in layers("aoe-rack"))
    assert layers("aoe-rack")["gigabit-card"].write == 125e6


def test_links_of_rented_servers_carry_copies_too():
    found = layers("beegfs-mirrored", servers=4)
    network = found["network of i4i.4xlarge"]
    assert network.write == network.read / 2 and not network.shared
    assert found["network of i4i.4xlarge sending"].shared
    assert set(layers("beegfs", servers=4)) == {"network of i4i.4xlarge", "local disks of i4i.4xlarge"}


def bought(name, clients, **values):
    lines = make_bill(load_template(name).build(values), Use(client_ports=clients)).lines
    return {line.item: int(line.pieces) for line in lines if line.dimension == "purchase"}


@pytest.mark.parametrize(
    ("servers", "clients", "switches"),
    [
        (11, 0, 1),  # 11 x 4 + 2 x 2 = 48 ports
        (12, 0, 2),  # 52: each server has a port at both
        (5, 20, 1),
        (5, 24, 1),
        (5, 25, 2),
        (5, 100, 4),  # 24 ports and 24 links at one switch; 24 links and 100 clients at three
        (25, 0, 8),  # 104 ports: five switches of 24 below, three above
    ],
)
def test_switches_have_the_ports_of_servers_and_clients(servers, clients, switches):
    assert bought("own-beegfs", clients, servers=servers)["switch-25gbe-48"] == switches


@pytest.mark.parametrize("name", ["own-beegfs", "own-ceph", "own-ceph-flash", "own-minio"])
def test_more_clients_never_take_fewer_switches(name):
    design = load_template(name).build()
    (each,) = [piece.switch.ports for piece in design.hardware if piece.switch]
    counts = [switch_count(design, clients) for clients in range(0, 3000, 7)]
    assert all(fewer <= more for fewer, more in pairwise(counts))
    assert all(count * each >= used_ports(design) + 7 * place for place, count in enumerate(counts))
    assert counts[0] >= load_template(name).parameters["switches"].value
    with pytest.raises(AssayError, match="three levels"):
        switch_count(design, each**4)


def test_a_need_pays_for_the_ports_of_its_clients():
    few, many = (advice("own-beegfs", {"servers": 3, "gigabits": 25}, clients=clients) for clients in (8, 64))
    assert many.options[0].price.month > few.options[0].price.month
    fast = advice("own-beegfs", {"servers": 3, "gigabits": 25}, clients=16, client="100Gb/s")
    # Each link of 100 Gb/s fills four ports of 25.
    assert fast.options[0].price.month == many.options[0].price.month
    (text,) = [each.text for each in many.reasons if each.rule == "switch_ports"]
    assert "2 x switch-25gbe-48 connect 10 ports of the design's hardware and 64 of clients" in text


def test_a_stated_link_replaces_both_ways_of_it(tmp_path):
    text = (DESIGNS / "beegfs-mirrored.yaml").read_text()
    text += "limits:\n  - {layer: network of i4i.4xlarge, read: 1GB/s, write: 1GB/s, source: measured}\n"
    (tmp_path / "stated.yaml").write_text(text)
    found = layers(str(tmp_path / "stated.yaml"))
    assert found["network of i4i.4xlarge"].read == 1e9 and "network of i4i.4xlarge sending" not in found


@pytest.mark.parametrize(("layout", "times"), [("raid0", 1), ("raid6", 24 / 22), ("raid10", 2), ("raid5", 24 / 23)])
def test_disks_inside_instances_write_mirrors_and_parity(layout, times):
    disks = layers("nfs-dense", layout=layout)["local disks of d3en.12xlarge"]
    assert (disks.read, disks.write) == (6.2e9, pytest.approx(6.2e9 / times))


def test_a_code_adds_to_what_rented_volumes_write(tmp_path):
    text = (DESIGNS / "beegfs-volumes.yaml").read_text() + "copies: 2+1\n"
    (tmp_path / "code.yaml").write_text(text)
    one, code = (layers(name, servers=3) for name in ("beegfs-volumes", str(tmp_path / "code.yaml")))
    for name in ("gp3 volumes", "volume bandwidth of c5n.4xlarge"):
        assert code[name].write == pytest.approx(one[name].write / 1.5) and code[name].read == one[name].read
