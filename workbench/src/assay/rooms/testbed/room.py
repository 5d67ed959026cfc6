"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "testbed": Command(
            "assay.rooms.testbed.command",
            "Build clusters on this machine: hosts in namespaces with shaped links, disks and real servers.",
            after="preflight",
        ),
    },
    hooks={
        "testbed_site": "assay.rooms.testbed.work.site:BoxSite",
        "box_description": "assay.rooms.testbed.work.box:load_box",
        "open_testbed": "assay.rooms.testbed.work.site:OpenBox",
    },
)
