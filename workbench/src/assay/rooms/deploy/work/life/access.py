"""Whether the user will reach the hosts of a stack. Pure."""

from collections.abc import Mapping
from typing import Any

from assay.rooms.deploy.work.life.template import all_values


def access_gaps(template: Mapping[str, Any], values: Mapping[str, str]) -> list[str]:
    """Return what keeps the user from logging in to the hosts, one line each; by parameters of Assay's templates.

    Args:
        template: The template.
        values: Parameter -> value, where it differs from the default.
    """
    found = all_values(template, values)
    if "KeyName" not in found:
        return []
    gaps = [] if found["KeyName"] else ["no one can log in to the hosts: add --parameter KeyName=KEYPAIR"]
    has_own_network = not found.get("SubnetId")
    missing = []
    if not found.get("LoginCidr", "any") and (has_own_network or not found.get("SecurityGroupId")):
        missing.append("--parameter LoginCidr=ADDRESS/32")
    # In a subnet of the user's, a VPN or a peering may lead to private addresses.
    if found.get("AssignPublicAddress") == "no" and has_own_network:
        missing.append("--parameter AssignPublicAddress=yes")
    if missing:
        gaps.append(f"no host can be reached from outside its network: add {' '.join(missing)}")
    return gaps
