"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "paper": Command(
            "assay.rooms.paper.command",
            "Make a paper that can be sent (PDF, DOCX, HTML or Markdown) from runs and from what its authors write.",
            after="report",
        ),
    },
)
