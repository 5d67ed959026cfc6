"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "fit": Command(
            "assay.rooms.fit.commands.fit",
            "Say whether a place is fast enough for an application: yes, no or undecided.",
            after="measure",
        ),
        "find": Command(
            "assay.rooms.fit.commands.find",
            "Find the highest rate of operations at which a place holds a latency.",
            after="measure",
        ),
    },
)
