"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "study": Command(
            "assay.rooms.foreign.command", "Make study files from command lines of other programs.", after="init"
        ),
    },
)
