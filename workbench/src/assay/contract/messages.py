"""The words of the wire that the rest of the workbench may use."""

from assay.contract._generated import (
    BarrierEvent,
    ByeEvent,
    Capabilities,
    ErrorCount,
    ErrorSampleEvent,
    Fault,
    HelloEvent,
    HostConnections,
    HostCpu,
    IntervalEvent,
    Job,
    LatencySummary,
    ListingEvent,
    LogEvent,
    OpCounts,
    OpInterval,
    OpTotals,
    PhaseEndEvent,
    PhaseStartEvent,
    PongEvent,
    ReadyEvent,
    Resources,
    ServiceUse,
    Stonewall,
    Watch,
    Window,
)

Event = (
    HelloEvent
    | ListingEvent
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
    "ErrorCount",
    "ErrorSampleEvent",
    "Event",
    "Fault",
    "HelloEvent",
    "HostConnections",
    "HostCpu",
    "IntervalEvent",
    "Job",
    "LatencySummary",
    "ListingEvent",
    "LogEvent",
    "OpCounts",
    "OpInterval",
    "OpTotals",
    "PhaseEndEvent",
    "PhaseStartEvent",
    "PongEvent",
    "ReadyEvent",
    "Resources",
    "ServiceUse",
    "Stonewall",
    "Watch",
    "Window",
]
