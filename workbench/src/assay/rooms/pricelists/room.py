"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "prices": Command(
            "assay.rooms.pricelists.commands.prices",
            "Show, check and renew price books: dated prices of one provider and region, each with its source.",
            after="catalog",
        ),
    },
)
