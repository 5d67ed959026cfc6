"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "record": Command(
            "assay.rooms.traces.commands.record",
            "Run a command and record what it asks of storage, as a trace.",
            after="measure",
        ),
        "trace": Command(
            "assay.rooms.traces.commands.trace",
            "Describe traces, and make them from what other tools recorded.",
            after="measure",
        ),
    },
)
