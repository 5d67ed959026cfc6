"""The classes of the contract that the rest of the workbench may use."""

from assay.contract._generated import (
    BarrierEvent,
    BeyondEvent,
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
    ReplayEvent,
    Resources,
    ServiceUse,
    Stonewall,
    TaskEvent,
    UploadEvent,
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
    | UploadEvent
    | BeyondEvent
    | TaskEvent
    | ReplayEvent
    | ErrorSampleEvent
    | LogEvent
    | PhaseEndEvent
    | ByeEvent
)
"""One line of the engine's output."""

__all__ = [
    "BarrierEvent",
    "BeyondEvent",
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
    "ReplayEvent",
    "Resources",
    "ServiceUse",
    "Stonewall",
    "TaskEvent",
    "UploadEvent",
    "Watch",
    "Window",
]
