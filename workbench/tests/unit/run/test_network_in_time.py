"""How much of a network is measured before a run that must have ended at a moment."""

from typing import Any, cast

import pytest

from assay.model.site.host import THIS_HOST
from assay.run import run_network
from assay.run.fleet import Fleet
from assay.run.run_network import SHORT_OPTIONS, measure_network
from assay.wires.preflight import PreflightOptions, ServerEndpoint, estimate_seconds

FLEET = Fleet((THIS_HOST,), ())


class MeasuredError(Exception):
    """Stands for the measurement."""

    def __init__(self, options: PreflightOptions) -> None:
        super().__init__()
        self.options = options


@pytest.mark.parametrize(("limit", "bandwidth"), [(None, True), (60.0, True), (4.0, False), (1.0, None)])
def test_what_takes_longer_is_left_out(
    limit: float | None, bandwidth: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def preflight(_clients: object, _servers: object, options: PreflightOptions) -> None:
        raise MeasuredError(options)

    monkeypatch.setattr(
        run_network, "servers_of_study", lambda _study, _hosts: (ServerEndpoint("s", "192.0.2.1", None),)
    )
    monkeypatch.setattr(run_network, "run_preflight", preflight)
    said: list[str] = []
    if bandwidth is None:
        assert measure_network(cast(Any, None), FLEET, said.append, limit) is None
        assert said == ["no time to measure the network between 1 host and 1 server"]
        return
    with pytest.raises(MeasuredError) as measured:
        measure_network(cast(Any, None), FLEET, said.append, limit)
    assert measured.value.options.bandwidth is bandwidth
    # Whoever gives a limit has said how long all of it takes.
    assert ("about" in said[0]) is (limit is None)
    assert estimate_seconds(1, 1, SHORT_OPTIONS) > 4
