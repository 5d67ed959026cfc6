"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "advise": Command(
            "assay.rooms.advice.commands.advise",
            "Say which design meets a need at which cost, why, and what would change that.",
            after="catalog",
        ),
    },
)
