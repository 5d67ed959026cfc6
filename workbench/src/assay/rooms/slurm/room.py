"""What the room adds to Assay."""

from assay.model.room import Command, Room

ROOM = Room(
    commands={
        "attach": Command(
            "assay.rooms.slurm.commands.attach",
            "Follow a run that was submitted to Slurm until its job ends; then print the results.",
            after="run",
        ),
    },
    hooks={
        "job_states": "assay.rooms.slurm.work.states:with_job_states",
        "job_text": "assay.rooms.slurm.work.states:job_words",
        "job_section": "assay.rooms.slurm.work.facts:own_job_section",
        "submit_run": "assay.rooms.slurm.commands.slurm_jobs:submit_and_follow",
        "resume_in_job": "assay.rooms.slurm.commands.slurm_jobs:resume_in_job",
    },
)
