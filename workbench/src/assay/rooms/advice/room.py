"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "advise": Command(
            "assay.rooms.advice.commands.advise",
            "Recommend a storage design for a need: what it costs, why, and what would change the choice.",
            after="catalog",
        ),
    },
    paper_parts={"advice": "assay.rooms.advice.shown.paper_part:ADVICE"},
)
