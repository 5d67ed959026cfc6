"""`assay deploy list`."""

import datetime as dt
from typing import Any

from assay.model.base import warning
from assay.rooms.deploy.commands import stack_output as output
from assay.terminal.output import note, print_json, print_table


def command(regions: list[str] = output.REGIONS, as_json: bool = output.JSON) -> None:
    """List the stacks of Assay, also those that this machine recorded and AWS does not know.

    Exit codes: 0 listed, 2 wrong input, 3 refused: no credentials, no right, no such region.

    Example: `assay deploy list --region eu-west-1 --region us-east-1`
    """
    from assay.rooms.deploy.model.faults import CloudError
    from assay.rooms.deploy.work.life.cloud import Cloud, regions_of
    from assay.rooms.deploy.work.life.records import all_records
    from assay.rooms.deploy.work.life.stacks import assay_stacks

    now = dt.datetime.now(dt.UTC)
    rows: list[list[str]] = []
    facts: list[dict[str, Any]] = []
    records = list(all_records())
    chosen = regions_of(regions, (record.region for record in records))
    for region in chosen:
        cloud = Cloud(region)
        try:
            stacks = assay_stacks(cloud)
        except CloudError as error:
            if len(chosen) == 1:
                raise
            note(warning(f"{region}: not looked at: {error.message}"))
            continue
        names = {stack.name for stack in stacks}
        for stack in stacks:
            facts.append({**output.stack_facts(stack), "region": region})
            created = output.time_text(stack.created)
            rows.append([region, stack.name, stack.status, stack.owner, created, output.left_text(stack.expires, now)])
        for record in records:
            here = record.region == region and record.account == cloud.identity.account
            if here and record.name not in names:
                facts.append({"name": record.name, "region": region, "status": "recorded only"})
                rows.append([region, record.name, "recorded only", "", "", ""])
    if as_json:
        print_json(facts)
    elif rows:
        print_table(["region", "stack", "status", "owner", "created", "time left"], rows)
    else:
        note(f"no stack of Assay in {', '.join(chosen)}")
