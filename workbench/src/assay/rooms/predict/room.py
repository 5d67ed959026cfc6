"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "predict": Command(
            "assay.rooms.predict.command",
            "Predict what a run did not measure: more hosts, the hosts for a rate, more data; "
            "or say that it cannot be said.",
            after="history",
        ),
    },
)
