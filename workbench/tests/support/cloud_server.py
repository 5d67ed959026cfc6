"""AWS for tests: moto's server, with what it lacks for stacks, and with failures that a test asks for.

Run as a program: `cloud_server.py PORT FOLDER`. Each request is a line of FOLDER/requests. The lines of
FOLDER/failures, `ACTION CODE COUNT MESSAGE`, make the next COUNT requests of that action fail with this code.

What moto 5.2.5 lacks, and this program adds: an instance takes image and type from its launch template; image
parameters of SSM have a value; placement groups can be listed (there are none); subnets have the attribute
AvailabilityZone, mount targets that of their address; gateways, interfaces and route tables are deleted with their
stack. It knows neither WaitCondition, PlacementGroup, Scheduler, Budgets nor FSx in templates, and skips these. A stack
is made within the request that asks for it, so it is never seen in progress. A volume that is a resource of its own
outlives its stack.

The lines of FOLDER/interrupted are ids of instances: when such a one is terminated, AWS has taken it back.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from s3_servers import HANG_GUARD, die_with_parent, free_port

IMAGE = "ami-760aaa0f"
"""Amazon Linux: an image of Windows would make all instances hosts on which no engine runs."""
REGION = "eu-west-1"
KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIAPLANTEDKEY000001",
    "AWS_SECRET_ACCESS_KEY": "planted/Secret+Key0000000000000000000001",
}
TOKEN = "planted-session-token-0000000000000001"
EMPTY_GROUPS = b"""<DescribePlacementGroupsResponse><placementGroupSet/></DescribePlacementGroupsResponse>"""


LAUNCHED = ("ImageId", "InstanceType", "BlockDeviceMappings", "UserData", "KeyName")
"""What an instance takes from its launch template."""
INTERRUPTION = "Server.SpotInstanceTermination"
FAILS = "fails"
"""Stacks whose names begin like this fail and are rolled back, which moto never does by itself."""
STICKS = "sticks"
"""Stacks whose names begin like this cannot be deleted at the first attempt; then they are called `stuck`."""
FAILED_RESOURCES = (
    (
        "Ready",
        "AWS::CloudFormation::WaitCondition",
        "WaitCondition received failed message: 'step pool failed\nmdadm: no devices found' for uniqueId: storage1",
    ),
    ("Clients", "AWS::AutoScaling::AutoScalingGroup", "Resource creation cancelled"),
)


@dataclass
class CloudServer:
    """A server that runs."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def endpoint(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def environment(self) -> dict[str, str]:
        """What makes botocore use it, with planted credentials."""
        return {
            **KEYS,
            "AWS_SESSION_TOKEN": TOKEN,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "ASSAY_STACKS": str(self.folder / "stacks"),
        }

    def client(self, service: str, region: str = REGION) -> Any:
        """A client of boto3 of its own, beside the commands."""
        return boto3.client(
            service,
            region_name=region,
            endpoint_url=self.endpoint,
            aws_access_key_id="beside",
            aws_secret_access_key="beside",
        )

    def requests(self) -> list[str]:
        """The actions of all requests so far, such as `CreateStack`."""
        log = self.folder / "requests"
        return log.read_text().split() if log.exists() else []

    def fail(self, action: str, code: str, count: int = 1, message: str = "injected") -> None:
        """Let the next requests of an action fail."""
        with (self.folder / "failures").open("a") as file:
            file.write(f"{action} {code} {count} {message}\n")

    def interrupt(self, instance: str) -> None:
        """Take a spot instance back, as AWS does; its group launches another one at once."""
        with (self.folder / "interrupted").open("a") as file:
            file.write(f"{instance}\n")
        self.client("ec2").terminate_instances(InstanceIds=[instance])

    def heal(self) -> None:
        """Let nothing fail any more."""
        (self.folder / "failures").unlink(missing_ok=True)

    def reset(self) -> None:
        """Forget all stacks, resources, failures and requests."""
        self.heal()
        (self.folder / "requests").unlink(missing_ok=True)
        urllib.request.urlopen(f"{self.endpoint}/moto-api/reset", data=b"").close()


@contextlib.contextmanager
def cloud_server(folder: Path) -> Iterator[CloudServer]:
    """A server that ends with the block, and with this process."""
    port = free_port()
    words = [sys.executable, "-W", "ignore", __file__, str(port), str(folder)]
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent)
    server = CloudServer(folder, port, process)
    try:
        until = time.monotonic() + HANG_GUARD
        while not _answers(server):
            assert process.poll() is None and time.monotonic() < until, (folder / "server.log").read_text()[-2000:]
            time.sleep(0.05)
        yield server
    finally:
        process.kill()
        process.wait()


def _answers(server: CloudServer) -> bool:
    with contextlib.suppress(OSError):
        urllib.request.urlopen(f"{server.endpoint}/moto-api/data.json").close()
        return True
    return False


# The server's own process.


def _supplement(folder: Path) -> None:
    """Add to moto what stacks of Assay need."""
    from moto.cloudformation.models import CloudFormationBackend, Event, Stack
    from moto.cloudformation.parsing import ResourceMap
    from moto.ec2.models import ec2_backends
    from moto.ec2.models.elastic_ip_addresses import ElasticAddress
    from moto.ec2.models.elastic_network_interfaces import NetworkInterface
    from moto.ec2.models.instances import Instance, StateReason
    from moto.ec2.models.internet_gateways import InternetGateway
    from moto.ec2.models.nat_gateways import NatGateway
    from moto.ec2.models.route_tables import Route, RouteTable
    from moto.ec2.models.subnets import Subnet, SubnetRouteTableAssociation
    from moto.ec2.models.vpcs import VPCEndPoint
    from moto.efs.models import MountTarget

    deleted = {
        RouteTable: _delete_route_table,
        Route: lambda each: None,
        SubnetRouteTableAssociation: lambda each: None,
        InternetGateway: _delete_gateway,
        NetworkInterface: lambda each: each.ec2_backend.enis.pop(each.id, None),
        NatGateway: lambda each: each.ec2_backend.delete_nat_gateway(each.id),
        ElasticAddress: lambda each: each.ec2_backend.addresses.remove(each),
        VPCEndPoint: lambda each: each.ec2_backend.vpc_end_points.pop(each.id, None),
    }
    for kind, delete in deleted.items():
        kind.delete = lambda self, account_id, region_name, delete=delete: delete(self)  # type: ignore[attr-defined]
    made = Instance.create_from_cloudformation_json.__func__  # type: ignore[attr-defined]

    def from_template(cls: Any, name: str, written: Any, account_id: str, region_name: str, **words: Any) -> Any:
        properties = written["Properties"]
        reference = properties.get("LaunchTemplate", {}).get("LaunchTemplateId")
        if reference:
            template = ec2_backends[account_id][region_name].get_launch_template(reference)
            data = template.latest_version().data
            properties = {**{key: data[key] for key in LAUNCHED if key in data}, **properties}
            disks = properties.get("BlockDeviceMappings", [])
            properties["BlockDeviceMappings"] = [each for each in disks if "Ebs" in each]
        taken = {key: properties[key] for key in ("NetworkInterfaces",) if key in properties}
        subnets = [each["SubnetId"] for each in taken.get("NetworkInterfaces", []) if "SubnetId" in each]
        properties = {"ImageId": IMAGE, **({"SubnetId": subnets[0]} if subnets else {}), **properties}
        return made(cls, name, {**written, "Properties": properties}, account_id, region_name, **words)

    Instance.create_from_cloudformation_json = classmethod(from_template)  # type: ignore[assignment, method-assign]
    terminate = Instance.terminate

    def terminate_or_interrupt(self: Any) -> Any:
        before, file = terminate(self), folder / "interrupted"
        if file.exists() and self.id in file.read_text().split():
            self._reason = INTERRUPTION
            self.state_reason = StateReason(f"{INTERRUPTION}: Instance terminated", INTERRUPTION)
        return before

    Instance.terminate = terminate_or_interrupt  # type: ignore[method-assign]
    parse = ResourceMap.parse_ssm_parameter

    def parameter(self: Any, value: str, value_type: str) -> str:
        return IMAGE if value.startswith("/aws/service/") else parse(self, value, value_type)

    ResourceMap.parse_ssm_parameter = parameter  # type: ignore[method-assign]
    MountTarget.get_cfn_attribute = lambda self, name: self.ip_address  # type: ignore[attr-defined]
    attribute = Subnet.get_cfn_attribute

    def subnet_attribute(self: Any, name: str) -> Any:
        return self.availability_zone if name == "AvailabilityZone" else attribute(self, name)

    Subnet.get_cfn_attribute = subnet_attribute  # type: ignore[method-assign]
    make = Stack.create_resources

    def make_or_fail(self: Any) -> None:
        if not self.name.startswith(FAILS):
            make(self)
            return
        for name, kind, reason in FAILED_RESOURCES:
            self.events.append(Event(self.stack_id, self.name, name, f"{name}-1", kind, "CREATE_FAILED", reason, "{}"))
        self.status = "ROLLBACK_COMPLETE"
        self._add_stack_event("ROLLBACK_COMPLETE")

    Stack.create_resources = make_or_fail  # type: ignore[method-assign]
    end = CloudFormationBackend.delete_stack

    def end_or_stick(self: Any, name_or_stack_id: str) -> None:
        for stack in self.stacks.values():
            if name_or_stack_id == stack.stack_id and stack.name.startswith(STICKS):
                kind, reason = "AWS::EC2::VPC", "The vpc 'vpc-1' has dependencies and cannot be deleted."
                words = (stack.stack_id, stack.name, "Vpc", "vpc-1", kind, "DELETE_FAILED", reason, "{}")
                stack.events.append(Event(*words))
                stack.status = "DELETE_FAILED"
                # The next attempt succeeds.
                stack.name = stack.name.replace(STICKS, "stuck")
                return
        end(self, name_or_stack_id)

    CloudFormationBackend.delete_stack = end_or_stick  # type: ignore[method-assign]


def _delete_route_table(table: Any) -> None:
    table._associations.clear()
    # That of a VPC goes with the VPC, whichever of both moto takes first.
    table.ec2_backend.route_tables.pop(table.id, None)


def _delete_gateway(gateway: Any) -> None:
    if gateway.vpc:
        gateway.ec2_backend.detach_internet_gateway(gateway.id, gateway.vpc.id)
    gateway.ec2_backend.delete_internet_gateway(gateway.id)


def action_of(environ: dict[str, Any], body: bytes) -> str:
    """The action of a request, of any of AWS's protocols; for REST the method and the path."""
    target = str(environ.get("HTTP_X_AMZ_TARGET", ""))
    if target:
        return target.rpartition(".")[2]
    form = urllib.parse.parse_qs(body.decode("utf-8", "replace")) if len(body) < 200_000 else {}
    return form["Action"][0] if "Action" in form else f"{environ['REQUEST_METHOD']}:{environ['PATH_INFO']}"


def failure_of(folder: Path, action: str) -> tuple[str, str]:
    """Code and message of the failure that this request shall have; empty if none."""
    file = folder / "failures"
    lines = file.read_text().splitlines() if file.exists() else []
    for place, line in enumerate(lines):
        name, code, count, message = line.split(" ", 3)
        if name == action and int(count) > 0:
            lines[place] = f"{name} {code} {int(count) - 1} {message}"
            file.write_text("\n".join(lines) + "\n")
            return code, message
    return "", ""


def _guarded(app: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    """The server, whose requests are logged and fail as asked."""

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        size = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(size) if size else b""
        environ["wsgi.input"] = __import__("io").BytesIO(body)
        action = action_of(environ, body)
        if not action.startswith(("GET:/moto-api", "POST:/moto-api")):
            with (folder / "requests").open("a") as log:
                log.write(f"{action}\n")
        code, message = failure_of(folder, action)
        if code:
            return _refuse(environ, start, code, message)
        if action == "DescribePlacementGroups":
            start("200 OK", [("Content-Type", "text/xml")])
            return [EMPTY_GROUPS]
        return app(environ, start)

    return answer


def _refuse(environ: dict[str, Any], start: Callable[..., Any], code: str, message: str) -> list[bytes]:
    if "HTTP_X_AMZ_TARGET" in environ:
        start("400 Bad Request", [("Content-Type", "application/x-amz-json-1.1")])
        return [json.dumps({"__type": code, "message": message}).encode()]
    start("400 Bad Request", [("Content-Type", "text/xml")])
    error = f"<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
    ec2 = f"<Response><Errors>{error}</Errors><RequestID>0</RequestID></Response>"
    query = f"<ErrorResponse>{error}<RequestId>0</RequestId></ErrorResponse>"
    is_ec2 = "/ec2/" in environ.get("HTTP_AUTHORIZATION", "")
    return [(ec2 if is_ec2 else query).encode()]


def main() -> None:
    """Serve."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import run_simple

    port, folder = int(sys.argv[1]), Path(sys.argv[2])
    _supplement(folder)
    app = DomainDispatcherApplication(create_backend_app)
    # One request at a time: the file of failures is read and written.
    run_simple("127.0.0.1", port, _guarded(app, folder), threaded=False)


if __name__ == "__main__":
    main()
