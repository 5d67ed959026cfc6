"""The zone of a stack's own subnets: one that offers all its instance types."""

import re
from dataclasses import replace

from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.work.life.cloud import Cloud
from assay.rooms.deploy.work.life.ordering import PricedOrder
from assay.rooms.deploy.work.life.quotas import instance_types

ZONE, SUBNET = "AvailabilityZone", "SubnetId"
"""Parameters of Assay's templates."""


def with_zone(cloud: Cloud, priced: PricedOrder) -> PricedOrder:
    """Return an order with a zone that offers all its instance types, unless the user named a zone or a subnet.

    Where EC2 does not say which zones these are, the order is unchanged, and the template takes its default.

    Raises:
        CloudError: No zone of the region offers all types.
    """
    order = priced.order
    values = order.values
    types = sorted({name for _, name, _ in instance_types(each.thing for each in priced.prices.things)})
    is_open = ZONE in order.body.template.get("Parameters", {}) and not (values.get(ZONE) or values.get(SUBNET))
    zones = offering_zones(cloud, types) if is_open and types else None
    if zones is None:
        return priced
    if not zones:
        message = f"no zone of {cloud.region} offers {' and '.join(types)}{' together' if len(types) > 1 else ''}"
        raise CloudError(FaultKind.UNSUPPORTED, message, "take other instance types, or another region")
    return replace(priced, order=replace(order, values={**values, ZONE: zones[0]}))


def offering_zones(cloud: Cloud, types: list[str]) -> list[str] | None:
    """Return the zones of a region that offer all types, in order; None if EC2 does not say.

    Local zones are left out: their names have more than the region's and a letter.
    """
    filters = [{"Name": "instance-type", "Values": types}]
    place = {"LocationType": "availability-zone", "Filters": filters}
    try:
        answers = cloud.pages("ec2", "describe_instance_type_offerings", "InstanceTypeOfferings", **place)
    except CloudError:
        return None
    offered: dict[str, set[str]] = {}
    for each in answers:
        offered.setdefault(str(each["Location"]), set()).add(str(each["InstanceType"]))
    own = re.compile(re.escape(cloud.region) + "[a-z]")
    return sorted(zone for zone, found in offered.items() if own.fullmatch(zone) and found >= set(types))
