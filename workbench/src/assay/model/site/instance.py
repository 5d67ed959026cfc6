"""What a cloud says of one of its instances."""

from dataclasses import dataclass

INTERRUPTIONS = frozenset({"Server.SpotInstanceTermination", "Server.SpotInstanceShutdown"})
"""Codes of an instance's state reason when AWS takes a spot instance back (EC2 API, StateReason)."""
LIVE_STATES = frozenset({"pending", "running"})
"""States of an instance that runs, or is about to (EC2 API, InstanceState)."""


@dataclass(frozen=True)
class InstanceState:
    """The state of an instance, as EC2 describes it.

    Attributes:
        state: pending, running, stopping, stopped, shutting-down or terminated.
        code: Code of the reason of its state, such as `Server.SpotInstanceTermination`; empty while it runs.
        ended_at: When its state changed, in seconds since 1970; None if EC2 does not state it.
        has_group: A group (auto scaling) launched it, and launches another one in its place.
    """

    state: str
    code: str = ""
    ended_at: float | None = None
    has_group: bool = False

    @property
    def is_live(self) -> bool:
        """Whether it runs or is about to."""
        return self.state in LIVE_STATES


FORGOTTEN = InstanceState("terminated")
"""The state of an instance that EC2 does not know any more: it forgets them about an hour after their end."""
