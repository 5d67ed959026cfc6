"""Hosts that a run lost because their cloud ended their instances."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.site.instance import INTERRUPTIONS

Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]*$", max_length=300)]
Moment = Annotated[float, Field(ge=0, le=253_402_300_799)]
"""Seconds since 1970, up to the year 9999."""


class HostLoss(Frozen):
    """A host whose instance ended during a repeat, which is therefore no result.

    Attributes:
        host: Name of the host.
        instance: Id of its instance.
        state: State of the instance, such as `shutting-down`, when the loss was noticed.
        code: The cloud's code of the reason, such as `Server.SpotInstanceTermination`; empty if it states none.
        ended_at: When the instance ended, in seconds since 1970; None if the cloud does not state it.
        noticed_at: When the loss was noticed, in seconds since 1970.
        case: Id of the case that was measured.
        repeat: Number of the repeat that was lost.
        is_server: It served the storage, so that its data are gone and no other instance can take its place.
        is_in_group: A group launched it, and launches another instance in its place.
        replaced_by: Id of the instance that is the host since then; empty if there is none yet.
    """

    host: Word
    instance: Word
    state: Word
    code: Word
    ended_at: Moment | None
    noticed_at: Moment
    case: Word
    repeat: int
    is_server: bool = False
    is_in_group: bool = False
    replaced_by: Word = ""

    @property
    def is_interruption(self) -> bool:
        """Whether the cloud took a spot instance back."""
        return self.code in INTERRUPTIONS

    @property
    def reason(self) -> str:
        """What became of the host, when and why, without the repeat."""
        moment = self.noticed_at if self.ended_at is None else self.ended_at
        when = f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"
        at = f"noticed at {when}" if self.ended_at is None else f"at {when}"
        what = f"{self.host} ({self.instance})"
        words = f"AWS took back the spot instance {what}" if self.is_interruption else f"{what} is {self.state}"
        return f"{words}, {at}{f': {self.code}' if self.code else ''}"

    @property
    def sentence(self) -> str:
        """The loss and what followed from it."""
        lost = f"repeat {self.repeat} of {self.case} was lost and does not count"
        since = f"; {self.host} is {self.replaced_by} since then" if self.replaced_by else ""
        return f"{self.reason}; {lost}{since}"
