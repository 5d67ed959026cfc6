"""The words of the wire that the rest of the workbench may use."""

from assay.contract._generated import (
    ByeEvent,
    Capabilities,
    ErrorSampleEvent,
    HelloEvent,
    IntervalEvent,
    Job,
    LatencySummary,
    LogEvent,
    PhaseEndEvent,
    PhaseStartEvent,
    ReadyEvent,
    Window,
)

Event = (
    HelloEvent | ReadyEvent | PhaseStartEvent | IntervalEvent | ErrorSampleEvent | LogEvent | PhaseEndEvent | ByeEvent
)
"""One line of the engine's output."""

__all__ = [
    "ByeEvent",
    "Capabilities",
    "ErrorSampleEvent",
    "Event",
    "HelloEvent",
    "IntervalEvent",
    "Job",
    "LatencySummary",
    "LogEvent",
    "PhaseEndEvent",
    "PhaseStartEvent",
    "ReadyEvent",
    "Window",
]
