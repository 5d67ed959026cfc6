"""What the room adds to Assay."""

from assay.model.room import Room

ROOM = Room(paper_parts={"diagram": "assay.rooms.diagrams.work.part:DIAGRAM"})
