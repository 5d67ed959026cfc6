"""What waits for a server that is started again, and what stands in a description only for that."""

import pytest

from assay.model.base import AssayError
from assay.model.yaml_files import read_model
from assay.servers.kinds import ServerKind, kind_names, load_kind

TEXT = """
kind: x
description: x
packages: [x]
ready: []
pidfile: /run/x
start: [[x]]
after_ready: [{run: [sh, -c, wait]%s}]
before: [{run: [x]%s}]
"""


def read(then: str = "", before: str = "") -> ServerKind:
    return read_model(ServerKind, (TEXT % (then, before)).encode(), "x", "", "kind of server")


def test_only_what_comes_when_it_answers_may_be_done_again() -> None:
    assert [step.on_restart for step in read(", on_restart: true").after_ready] == [True]
    with pytest.raises(AssayError, match="only steps of `after_ready` may have `on_restart`"):
        read(before=", on_restart: true")


@pytest.mark.parametrize("name", kind_names())
def test_a_server_that_nothing_asks_waits_when_it_is_started_again(name: str) -> None:
    """Else a server that was stopped would be called ready before it answers; what nothing runs for is always so."""
    kind = load_kind(name)
    if kind.start and kind.ready == []:
        assert any(step.on_restart for step in kind.after_ready)
