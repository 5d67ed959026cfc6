"""What the room adds to Assay."""

from assay.model.room import Room

ROOM = Room(
    hooks={"replication_commands": "assay.rooms.replication.expansion:replication_commands"},
)
