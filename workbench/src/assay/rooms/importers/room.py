"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "import": Command(
            "assay.rooms.importers.commands.importing",
            "Make a run of what another tool measured, from its output.",
            after="measure",
        ),
        "audit": Command(
            "assay.rooms.importers.commands.audit",
            "Say what speaks against results: numbers that contradict each other, the tool, or the machines.",
            after="measure",
        ),
    },
    sections={"assay.rooms.importers.shown.section:section": "evidence"},
    hooks={
        "imported_blocks": "assay.rooms.importers.shown.figures:case_blocks",
        "imported_figures": "assay.rooms.importers.shown.figures:imported_figures",
        "audit_blocks": "assay.rooms.importers.shown.section:audit_blocks",
        "audit_words": "assay.rooms.importers.shown.section:audit_words",
        "doubted_cases": "assay.rooms.importers.shown.doubts:doubted_cases",
        "run_of_outputs": "assay.rooms.importers.work.temporary:run_of_outputs",
    },
    paper_parts={
        "audit": "assay.rooms.importers.shown.paper_audit:AUDIT",
        "printed": "assay.rooms.importers.shown.paper_printed:PRINTED",
        "printed_chart": "assay.rooms.importers.shown.paper_printed_chart:PRINTED_CHART",
    },
)
