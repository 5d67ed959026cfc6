"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "serve": Command(
            "assay.rooms.serve.command",
            "Show the runs of a folder in a browser, and compare two by clicking.",
            after="report",
        ),
    },
)
