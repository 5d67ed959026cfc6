"""A template of CloudFormation for the lines of a design of AWS: Direct Connect connections, and their interface.

A connection is only ordered by it. AWS answers with a letter of authorization, with which the operator of the place
connects the cable; then it is available, and the interface can be added by an update of the stack.
"""

from typing import Any

from assay.model.base import AssayError
from assay.model.money.design import Design
from assay.rooms.deploy.work.links.price import month_text
from assay.rooms.deploy.work.templates.draft import Draft
from assay.rooms.deploy.work.templates.functions import STACK_NAME, either, equals, join, ref, sub
from assay.rooms.deploy.work.templates.parameters import YES_NO, pattern

LINE, INTERFACE = "Connection", "Virtual interface"
DEDICATED = (1, 10, 100, 400)
"""Gbit/s of dedicated connections, which AWS itself provides; others are hosted, and ordered from a partner."""
EXAMPLES = {"AmazonAddress": "192.0.2.0/31", "CustomerAddress": "192.0.2.1/31", "AnnouncedRanges": "198.51.100.0/24"}
"""Addresses that are reserved for documentation. Source: RFC 5737"""
PREFIX = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}"


def direct_connect_template(design: Design) -> dict[str, Any]:
    """Return the template for the lines of a design.

    Raises:
        AssayError: AWS has no dedicated connection of that rate, or the book no price of it.
    """
    assert design.link is not None
    gigabits = round(design.link.rate * 8 / 1e9)
    if gigabits not in DEDICATED:
        hint = "order a hosted connection from a partner of AWS; 1, 10, 100 and 400 Gbit/s have a template"
        raise AssayError(f"design {design.design}: AWS has no dedicated connection of {gigabits} Gbit/s", hint)
    price = month_text(design)
    draft = Draft(f"Direct Connect connections of the design {design.design}: {price}")
    _add_parameters(draft, gigabits)
    ids = [f"Connection{number + 1}" for number in range(design.link.count)]
    for name in ids:
        draft.resource(
            name,
            "AWS::DirectConnect::Connection",
            {
                "ConnectionName": sub(f"${{RunName}}-{name.lower()}"),
                "Bandwidth": ref("Bandwidth"),
                "Location": ref("Location"),
                "ProviderName": either("HasProvider", ref("ProviderName")),
                "RequestMACSec": either("UseMacSec", True),
                "Tags": _tags(),
            },
        )
    _add_interface(draft, ids[0])
    draft.output(
        "ConnectionIds", "Connections; the console has the letter of each", join(",", [ref(name) for name in ids])
    )
    draft.output("PriceMonth", "Price of the connections, from the day on which they are available", price)
    return draft.document()


def _tags() -> list[dict[str, Any]]:
    found = {"assay:stack": STACK_NAME, "assay:run": ref("RunName"), "assay:owner": ref("Owner")}
    return [{"Key": key, "Value": value} for key, value in found.items()]


def _add_parameters(draft: Draft, gigabits: int) -> None:
    name = "^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$"
    words = "must be 1 to 63 letters, digits, hyphens or underscores"
    draft.parameter(LINE, "RunName", "Name", "Name of the connections.", **pattern(name, words))
    about = "Person or team that pays. It becomes the tag assay:owner."
    owner = pattern("^[A-Za-z0-9_.@+-]{1,128}$", "must be a name or e-mail address without blanks")
    draft.parameter(LINE, "Owner", "Owner", about, **owner)
    about = "Code of the place where AWS and you meet, such as EqDC2: aws directconnect describe-locations."
    place = pattern("^[A-Za-z0-9-]{2,20}$", "must be the code of a location")
    draft.parameter(LINE, "Location", "Location", about, **place)
    offered = [f"{rate}Gbps" for rate in DEDICATED]
    about = "Rate of each connection. The price in this template is that of the default."
    draft.parameter(LINE, "Bandwidth", "Bandwidth", about, AllowedValues=offered, Default=f"{gigabits}Gbps")
    about = "Who brings the line to that place. Empty: not stated."
    draft.parameter(LINE, "ProviderName", "Carrier", about, Default="", MaxLength=200)
    about = "Whether the connection can encrypt by MACsec, for 10 Gbit/s and more; not each location can."
    draft.parameter(LINE, "RequestMacSec", "MACsec", about, Default="no", **YES_NO)
    draft.conditions |= {
        "HasProvider": {"Fn::Not": [equals(ref("ProviderName"), "")]},
        "UseMacSec": equals(ref("RequestMacSec"), "yes"),
        "AddInterface": equals(ref("CreateInterface"), "yes"),
    }


def _add_interface(draft: Draft, connection: str) -> None:
    """Add the public virtual interface of the first connection, over which the public addresses of S3 are reached."""
    about = "Whether a public virtual interface is made. Say yes by an update, once the first connection is available."
    draft.parameter(INTERFACE, "CreateInterface", "Create it", about, Default="no", **YES_NO)
    number = {"Type": "Number"}
    draft.parameter(INTERFACE, "Vlan", "VLAN", "Id of the VLAN.", **number, Default=101, MinValue=1, MaxValue=4094)
    about = "Number of your autonomous system, of BGP."
    draft.parameter(INTERFACE, "CustomerAsn", "ASN", about, **number, Default=65000, MinValue=1, MaxValue=4294967294)
    peers = ("AmazonAddress", "CustomerAddress")
    for name, example in EXAMPLES.items():
        end = "AWS's end of the line" if name == "AmazonAddress" else "your end of the line"
        if name in peers:
            about, form = f"Public address of {end}. The default is an example.", f"^{PREFIX}$"
        else:
            about = "Public ranges that you announce to AWS, with commas between. The default is an example."
            form, end = f"^{PREFIX}(,{PREFIX})*$", "announced ranges"
        label = end[0].upper() + end[1:]
        rules = pattern(form, f"must be written like {example}", Default=example)
        draft.parameter(INTERFACE, name, label, about, **rules)
    filled = [
        {
            "Assert": {"Fn::Not": [equals(ref(name), example)]},
            "AssertDescription": f"CreateInterface needs {name}; {example} is an example",
        }
        for name, example in EXAMPLES.items()
    ]
    draft.rules["InterfaceIsWhole"] = {"RuleCondition": equals(ref("CreateInterface"), "yes"), "Assertions": filled}
    peer = {"AddressFamily": "ipv4", "Asn": ref("CustomerAsn"), **{name: ref(name) for name in peers}}
    interface = {
        "ConnectionId": ref(connection),
        "VirtualInterfaceName": sub("${RunName}-public"),
        "Vlan": ref("Vlan"),
        "BgpPeers": [peer],
        "RouteFilterPrefixes": {"Fn::Split": [",", ref("AnnouncedRanges")]},
        "Tags": _tags(),
    }
    draft.resource("PublicInterface", "AWS::DirectConnect::PublicVirtualInterface", interface, "AddInterface")
