"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "testbed": Command(
            "assay.rooms.testbed.command",
            "A cluster in a box: hosts on this machine with shaped links, own disks and real servers.",
            after="preflight",
        ),
    },
    hooks={
        "testbed_site": "assay.rooms.testbed.work.site:BoxSite",
        "open_testbed": "assay.rooms.testbed.work.site:OpenBox",
    },
)
