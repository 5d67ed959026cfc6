"""ping's outputs on Linux, BusyBox, inetutils, BSD and Windows: every figure comes back, and times are the latency."""

import re
from collections import Counter

import pytest
from network_samples import NUMBER, check_damaged, figure, names, read, results_of, sample, text_of

from assay.rooms.importers.work.results import OutputError

SAMPLES = names("ping", ".txt")
TIME = re.compile(rf"time[=<]({NUMBER}) ms")
MACOS = """PING example.net (192.0.2.7): 56 data bytes
64 bytes from 192.0.2.7: icmp_seq=0 ttl=56 time=11.632 ms
64 bytes from 192.0.2.7: icmp_seq=1 ttl=56 time=11.726 ms
Request timeout for icmp_seq 2
64 bytes from 192.0.2.7: icmp_seq=3 ttl=56 time=10.683 ms

--- example.net ping statistics ---
4 packets transmitted, 3 packets received, 25.0% packet loss
round-trip min/avg/max/stddev = 10.683/11.347/11.726/0.471 ms
"""
"""In the layout of sbin/ping/ping.c of FreeBSD."""
WINDOWS = """
Pinging server [10.10.0.196] with 32 bytes of data:
Reply from 10.10.0.196: bytes=32 time=2ms TTL=64
Reply from 10.10.0.196: bytes=32 time<1ms TTL=64
Request timed out.
Reply from 10.10.0.196: bytes=32 time=4ms TTL=64

Ping statistics for 10.10.0.196:
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
Approximate round trip times in milli-seconds:
    Minimum = 0ms, Maximum = 4ms, Average = 2ms
"""
"""In the layout of ping of Windows 10."""
LANGUAGES = {
    "fr": (
        "Envoi d’une requête 'ping' sur b2.example [192.0.2.7] avec 32 octets de données :",
        "Réponse de 192.0.2.7 : octets=32 temps=4 ms TTL=128",
        "    Paquets : envoyés = 4, reçus = 3, perdus = 1 (perte 25%),",
        "    Minimum = 4ms, Maximum = 480ms, Moyenne = 133ms",
    ),
    "de": (
        "Ping wird ausgeführt für b2.example [192.0.2.7] mit 32 Bytes Daten:",
        "Antwort von 192.0.2.7: Bytes=32 Zeit=4ms TTL=64",
        "    Pakete: Gesendet = 4, Empfangen = 3, Verloren = 1\n    (25% Verlust),",
        "    Minimum = 4ms, Maximum = 480ms, Mittelwert = 133ms",
    ),
    "es": (
        "Haciendo ping a b2.example [192.0.2.7] con 32 bytes de datos:",
        "Respuesta desde 192.0.2.7: bytes=32 tiempo=4ms TTL=115",
        "    Paquetes: enviados = 4, recibidos = 3, perdidos = 1\n    (25% perdidos),",
        "    Mínimo = 4ms, Máximo = 480ms, Media = 133ms",
    ),
    "pt": (
        "Disparando b2.example [192.0.2.7] com 32 bytes de dados:",
        "Resposta de 192.0.2.7: bytes=32 tempo=4ms TTL=116",
        "    Pacotes: Enviados = 4, Recebidos = 3, Perdidos = 1 (25% de\n             perda),",
        "    Mínimo = 4ms, Máximo = 480ms, Média = 133ms",
    ),
    "ru": (
        "Обмен пакетами с b2.example [192.0.2.7] с 32 байтами данных:",
        "Ответ от 192.0.2.7: число байт=32 время=4мс TTL=56",
        "    Пакетов: отправлено = 4, получено = 3, потеряно = 1\n    (25% потерь)",
        "    Минимальное = 4мсек, Максимальное = 480 мсек, Среднее = 133 мсек",
    ),
}
"""First line, reply, counts and times of Windows in other languages, as users of it have published them."""
PING6 = """PING6(128=40+8+80 bytes) 2001:db8::749a --> 2001:db8:600::323
88 bytes from 2001:db8:600::323, icmp_seq=0 hlim=59 time=26.292 ms
88 bytes from 2001:db8:600::323, icmp_seq=1 hlim=59 time=64.712 ms

--- example.net ping6 statistics ---
2 packets transmitted, 2 packets received, 0.0% packet loss
round-trip min/avg/max/std-dev = 26.292/45.502/64.712/19.210 ms
"""
"""In the layout of sbin/ping6/ping6.c of FreeBSD."""


@pytest.mark.parametrize("name", SAMPLES)
def test_every_printed_number_comes_back(name: str) -> None:
    text = text_of("ping", name)
    printed = Counter(TIME.findall(text))
    for line in text.splitlines():
        if " packets transmitted" in line or "min/avg/max" in line:
            printed += Counter(re.findall(NUMBER, line))
    assert Counter(one.text for result in sample("ping", name) for one in result.figures) == printed


@pytest.mark.parametrize("name", SAMPLES)
def test_the_latency_is_that_of_the_statistics(name: str) -> None:
    (result,) = sample("ping", name)
    match = re.search(rf"min/avg/max\S* = ({NUMBER})/({NUMBER})/({NUMBER})", text_of("ping", name))
    if match is None:
        assert result.operation is None and result.left_out
        return
    least, mean, most = (round(float(text) * 1e6) for text in match.groups())
    assert result.operation == "round_trip" and result.measured and result.latency_of == "rtt"
    assert result.measured.latency == {"min": least, "mean": mean, "max": most}
    assert result.measured.iops == 1e9 / mean and not result.measured.throughput


@pytest.mark.parametrize("text", [*(text_of("ping", name) for name in SAMPLES), MACOS, WINDOWS, PING6])
def test_a_damaged_output_is_read_or_refused(text: str) -> None:
    check_damaged("ping", text, text[:60])


def test_lost_packets_are_figures() -> None:
    (result,) = sample("ping", "iputils-s20180629-lost.txt")
    assert figure(result, "loss") == ("33.3333", "%") and result.measured and result.measured.ops == 8
    (none,) = sample("ping", "iputils-20221126-no-answer.txt")
    assert none.left_out == "no answer came" and figure(none, "loss") == ("100", "%")
    (small,) = sample("ping", "iputils-20221126-no-times.txt")
    assert "no times" in small.left_out


def test_macos_and_windows() -> None:
    (mac,) = results_of("ping", MACOS)
    assert mac.target == "example.net" and mac.options == {"size": "56", "address": "192.0.2.7"}
    assert mac.measured and mac.measured.latency["mean"] == 11_347_000 and figure(mac, "loss") == ("25.0", "%")
    (windows,) = results_of("ping", WINDOWS.replace("\n", "\r\n"))
    assert windows.measured and windows.measured.latency == {"min": 0, "mean": 2_000_000, "max": 4_000_000}
    assert figure(windows, "reply 2: time, below") == ("1", "ms") and figure(windows, "lost") == ("1", "")
    below = re.sub(r"time=[0-9]+ms", "time<1ms", WINDOWS).replace("4ms", "0ms").replace("2ms", "0ms")
    (result,) = results_of("ping", below)
    assert "below what this ping can tell" in result.left_out


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("is_other_code_page", [False, True])
def test_windows_in_other_languages(language: str, is_other_code_page: bool) -> None:
    text = "\n".join(LANGUAGES[language])
    if is_other_code_page and language != "ru":
        # What a console writes is not what it is taken for.
        text = text.replace("’", "'").encode("cp850").decode("cp1252", "replace")
    (result,) = results_of("ping", text)
    assert result.target == "b2.example" and result.options == {"size": "32", "address": "192.0.2.7"}
    assert result.measured and result.measured.ops == 3
    assert result.measured.latency == {"min": 4_000_000, "mean": 133_000_000, "max": 480_000_000}
    printed = ("loss", "25", "%"), ("lost", "1", ""), ("reply 1: time", "4", "ms")
    assert [(name, *figure(result, name)) for name, _, _ in printed] == list(printed)


def test_ping6_of_macos() -> None:
    (result,) = results_of("ping", PING6)
    assert result.target == "example.net" and result.options == {"size": "80", "address": "2001:db8:600::323"}
    assert result.measured and result.measured.latency["mean"] == 45_502_000
    assert figure(result, "std-dev") == ("19.210", "ms") and figure(result, "reply 1: time") == ("64.712", "ms")


def test_several_pings_of_one_file_are_results() -> None:
    text = text_of("ping", "iputils-20250605.txt") + MACOS + text_of("ping", "busybox-1.35.0.txt")
    assert [result.target for result in results_of("ping", text)] == ["10.77.0.2", "example.net", "10.77.0.2"]


def test_without_statistics_the_replies_count() -> None:
    text = text_of("ping", "iputils-20250605.txt")
    (result,) = results_of("ping", text[: text.index("\n---")])
    times = [float(one) * 1e6 for one in TIME.findall(text)]
    assert result.measured and result.measured.latency["max"] == max(times) and result.measured.ops == len(times)
    assert result.latency_of == "time of the replies that are printed"


@pytest.mark.parametrize(
    ("line", "by"),
    [("5 packets transmitted, 5", "many"), ("rtt min/avg/max/mdev = ", "x/"), ("rtt min/avg/max/mdev = ", "9" * 30)],
)
def test_statistics_that_are_none_are_refused(line: str, by: str) -> None:
    text = text_of("ping", "iputils-20250605.txt").replace(line, f"{line}{by}")
    with pytest.raises(OutputError, match="not the statistics") as error:
        read("ping", text)
    assert error.value.hint


PAPER = (
    ("isilon-node1", 61, ("2.33", "1.97", "2.10", "2.16")),
    ("172.16.1.14", 62, ("1.82", "1.82")),
    ("172.31.5.10", 64, ("0.303", "0.114", "0.098", "0.090")),
)
"""Sections 2.3.2 and 5.3.2 of the white paper on PowerScale: target, TTL, and milliseconds of each reply."""


@pytest.mark.parametrize(("target", "ttl", "times"), PAPER)
def test_figures_of_a_paper_come_back(target: str, ttl: int, times: tuple[str, ...]) -> None:
    """In the layout of iputils (ping_common.c), as far as the paper prints it: without statistics."""
    replies = "".join(
        f"64 bytes from {target} (10.0.0.4): icmp_seq={number} ttl={ttl} time={time} ms\n"
        for number, time in enumerate(times, start=1)
    )
    mean = sum(map(float, times)) / len(times)
    end = (
        f"\n--- {target} ping statistics ---\n{len(times)} packets transmitted, {len(times)} received, 0% packet loss, "
    )
    end += f"time {len(times) - 1}003ms\nrtt min/avg/max/mdev = {min(times)}/{mean:.3f}/{max(times)}/0.100 ms\n"
    (result,) = results_of("ping", f"PING {target} (10.0.0.4) 56(84) bytes of data.\n{replies}{end}")
    assert [one.text for one in result.figures if one.name.startswith("reply")] == list(times)
    assert result.measured and result.measured.latency["max"] == float(max(times)) * 1e6
    assert result.target == target


def test_a_paper_with_windows_has_times_below_a_millisecond_only() -> None:
    replies = "Reply from 10.10.0.196: bytes=32 time<1ms TTL=64\n" * 4
    end = "Ping statistics for 10.10.0.196:\n    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),\n"
    end += "Approximate round trip times in milli-seconds:\n    Minimum = 0ms, Maximum = 0ms, Average = 0ms\n"
    (result,) = results_of("ping", f"Pinging 10.10.0.196 with 32 bytes of data:\n{replies}\n{end}")
    assert [one.text for one in result.figures if "below" in one.name] == ["1"] * 4 and result.left_out


def test_a_flood_is_no_repeat_of_a_ping_that_waits() -> None:
    (flood,), (plain,) = sample("ping", "iputils-20221126-flood.txt"), sample("ping", "iputils-20221126.txt")
    assert flood.workload != plain.workload == "ping"
