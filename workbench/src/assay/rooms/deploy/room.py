"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "deploy": Command(
            "assay.rooms.deploy.commands.deploy",
            "Build storage designs in a cloud or on hosts that exist, and remove them again.",
            after="price",
        ),
    },
    hooks={
        "stack_document": "assay.rooms.deploy.work.stack_hosts:stack_document",
        "stack_network": "assay.rooms.deploy.work.stack_network:stack_network",
        "is_known_stack": "assay.rooms.deploy.work.stack_hosts:is_known_stack",
    },
)
