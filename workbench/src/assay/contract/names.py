"""The words of the wire that the rest of the workbench may use."""

from assay.contract._generated import (
    BarrierEvent,
    ByeEvent,
    Capabilities,
    Counts,
    ErrorSampleEvent,
    HelloEvent,
    HostCpu,
    IntervalEvent,
    Job,
    LatencySummary,
    LogEvent,
    PhaseEndEvent,
    PhaseStartEvent,
    PongEvent,
    ReadyEvent,
    Resources,
    Watch,
    Window,
)

Event = (
    HelloEvent
    | ReadyEvent
    | BarrierEvent
    | PongEvent
    | PhaseStartEvent
    | IntervalEvent
    | ErrorSampleEvent
    | LogEvent
    | PhaseEndEvent
    | ByeEvent
)
"""One line of the engine's output."""

__all__ = [
    "BarrierEvent",
    "ByeEvent",
    "Capabilities",
    "Counts",
    "ErrorSampleEvent",
    "Event",
    "HelloEvent",
    "HostCpu",
    "IntervalEvent",
    "Job",
    "LatencySummary",
    "LogEvent",
    "PhaseEndEvent",
    "PhaseStartEvent",
    "PongEvent",
    "ReadyEvent",
    "Resources",
    "Watch",
    "Window",
]
