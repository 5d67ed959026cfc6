"""What tests of tables share: jobs, a look at the table with boto3, and a proxy that reads along phase by phase."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from s3_harm import passes
from s3_proxy import Exchange, Harm, Proxy, harmful
from s3_servers import ACCESS_KEY, SECRET_KEY, S3Server
from s3_tools import DIRECTORY, KIB, MARK, ROOT, Ended, Engine, Json, done_well, job_of, run_job

PARTITION, SORT, CONTENTS = "pk", "sk", "d"
SORTED: Json = {"sort_key": SORT, "partition_items": 5}
"""Fields of a target whose items have a sort key, five with each partition key."""
Item = dict[str, dict[str, Any]]
READS = ("GetItem", "BatchGetItem", "Query", "Scan")


def size_of(item: Item) -> int:
    """Bytes of an item of texts and bytes, as DynamoDB counts them: names in UTF-8, and what they name."""
    return sum(len(name.encode()) + sum(map(_length, value.values())) for name, value in item.items())


def _length(value: str | bytes) -> int:
    return len(value.encode() if isinstance(value, str) else value)


def client(server: S3Server) -> Any:
    """boto3 at a service; it retries nothing."""
    return boto3.client(
        "dynamodb",
        endpoint_url=server.endpoint,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        region_name="us-east-1",
        config=Config(retries={"max_attempts": 0}),
    )


@dataclass(frozen=True)
class TableAt:
    """A table of a test's own at a service; it is not made yet.

    Attributes:
        folder: For jobs and what engines say.
    """

    server: S3Server
    table: str
    folder: Path

    @property
    def ddb(self) -> Any:
        """boto3 at the service."""
        return client(self.server)

    @property
    def exact(self) -> bool:
        """Whether the service counts units as DynamoDB does."""
        return self.server.flavour.name == "dynamodb-local"

    def target(self, **more: Any) -> Json:
        """The target of the test's jobs."""
        base = {"kind": "dynamodb", "endpoints": [self.server.endpoint], "table": self.table, "root": ROOT}
        return {**base, "directory": DIRECTORY, **more}

    def job(self, *words: str | Json, target: Json | None = None, **more: Any) -> Json:
        """A job with these phases on twelve items of 1 KiB, four at a time, of which each byte read is checked."""
        size = more.get("file_size_bytes", KIB)
        return job_of(
            self.target(**(target or {})), *words, **{"file_size_bytes": size, "record_size_bytes": size, **more}
        )

    def run(self, *words: str | Json, env: dict[str, str] | None = None, **more: Any) -> Ended:
        """The job, done."""
        return run_job(self.job(*words, **more), self.folder, env)

    def well(self, *words: str | Json, env: dict[str, str] | None = None, **more: Any) -> Ended:
        """The job, done well."""
        return done_well(self.job(*words, **more), self.folder, env)

    def make(self, *items: Item, partition: str = PARTITION, sort: str = "", kind: str = "S") -> None:
        """Make the table as somebody else would, with these items."""
        names = [(partition, "HASH"), *([(sort, "RANGE")] if sort else [])]
        self.ddb.create_table(
            TableName=self.table,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind} for name, _ in names],
            KeySchema=[{"AttributeName": name, "KeyType": role} for name, role in names],
        )
        self.ddb.get_waiter("table_exists").wait(TableName=self.table, WaiterConfig={"Delay": 1})
        for item in items:
            self.put(item)

    def put(self, item: Item) -> None:
        """Store an item."""
        self.ddb.put_item(TableName=self.table, Item=item)

    def remove(self, item: Item, *keys: str) -> None:
        """Remove an item by its keys."""
        self.ddb.delete_item(TableName=self.table, Key={key: item[key] for key in keys or (PARTITION,)})

    def everything(self) -> list[Item]:
        """All items, in the order of their keys."""
        pages = self.ddb.get_paginator("scan").paginate(TableName=self.table, ConsistentRead=True)
        found = [item for page in pages for item in page["Items"]]
        return sorted(found, key=lambda item: json.dumps({name: item[name] for name in item if name != CONTENTS}))

    def items(self, partition: str = PARTITION) -> list[Item]:
        """The same, without the marks of the table and of jobs."""
        return [item for item in self.everything() if item[partition] != {"S": MARK} and CONTENTS in item]

    def keys(self) -> set[str]:
        """Partition keys of all items."""
        return {item[PARTITION]["S"] for item in self.everything()}

    def is_there(self) -> bool:
        """Whether the table is."""
        pages = self.ddb.get_paginator("list_tables").paginate()
        return self.table in {name for page in pages for name in page["TableNames"]}


def of_others(*keys: str, sort: str = "") -> list[Item]:
    """Items of somebody else."""
    more: Item = {sort: {"S": "1"}} if sort else {}
    return [{PARTITION: {"S": key}, **more, "precious": {"S": key}} for key in keys]


@dataclass(frozen=True)
class Asked:
    """A request as the service got it, and what it answered.

    Attributes:
        step: Number of the phase, in which lanes worked; -1: what comes before, between and after.
        answer: None if harm was done.
    """

    step: int
    action: str
    headers: dict[str, str]
    sent: bytes
    status: int = 0
    answer: Json | None = None

    @property
    def body(self) -> Json:
        """What was asked for."""
        body: Json = json.loads(self.sent or b"{}")
        return body

    def units(self) -> tuple[float, float]:
        """Read and write units that the service has told."""
        told = (self.answer or {}).get("ConsumedCapacity", [])
        units = sum(float(one["CapacityUnits"]) for one in (told if isinstance(told, list) else [told]))
        return (units, 0.0) if self.action in READS else (0.0, units)


@dataclass
class Watch:
    """Reads along at a proxy, and does harm to the chosen request of a phase.

    Attributes:
        harm: What is done to it.
        phase: Number of its phase; -1: whatever is asked outside of phases.
        action: Of it.
        which: Its place among these, from 0; none: each of them.
        seen: All requests.
        struck: How often harm was done.
        step: Number of the phase that is under way; -1: none is.
    """

    harm: Harm = passes
    phase: int = 0
    action: str = ""
    which: int | None = 0
    seen: list[Asked] = field(default_factory=list)
    struck: int = 0
    step: int = -1
    _met: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, exchange: Exchange) -> None:
        """One request at the proxy."""
        headers = exchange.request.headers
        action = headers.get("x-amz-target", "").partition(".")[2]
        asked = Asked(self.step, action, headers, exchange.body())
        if self._chosen(asked):
            with self._lock:
                self.seen.append(asked)
            return self.harm(exchange)
        answer = exchange.answer()
        status = int(answer.status.split(" ")[1])
        with contextlib.suppress(ValueError):
            asked = Asked(asked.step, action, headers, asked.sent, status, json.loads(answer.body or b"{}"))
        with self._lock:
            self.seen.append(asked)
        return exchange.send(answer.whole())

    def _chosen(self, asked: Asked) -> bool:
        if self.harm is passes or asked.step != self.phase or (self.action and asked.action != self.action):
            return False
        with self._lock:
            self._met += 1
            chosen = self.which is None or self._met == self.which + 1
            self.struck += chosen
            return chosen

    def of(self, phase: int) -> list[Asked]:
        """Requests of a phase, in the order in which they were answered."""
        return [asked for asked in self.seen if asked.step == phase]

    def operations(self) -> list[Asked]:
        """Requests of all phases."""
        return [asked for asked in self.seen if asked.step >= 0]


@contextlib.contextmanager
def watched(at: TableAt, watch: Watch) -> Iterator[Proxy]:
    """A proxy before the service at which everything is seen."""
    host, port = at.server.host, at.server.port
    with harmful(port, watch, lambda _: True, which=None, server_host=host) as proxy:
        yield proxy


def step_by_step(engine: Engine, watch: Watch, between: Callable[[int], None] = lambda phase: None) -> Ended:
    """Let an engine go on at each barrier, so that the proxy knows in which phase a request is.

    Args:
        engine: Its job says `wait_for_go`.
        watch: Is told.
        between: Called before the lanes of a phase start, with its number.
    """
    assert engine.process.stdout
    for line in engine.process.stdout:
        engine.lines.append(line)
        event = json.loads(line)
        if event["event"] in ("phase_end", "bye"):
            watch.step = -1
        if event["event"] != "barrier":
            continue
        watch.step = -1
        if event["step"] == "start":
            between(event["phase"])
            watch.step = event["phase"]
        with contextlib.suppress(BrokenPipeError):
            engine.say({"go": True})
    return engine.end()


def run_watched(
    at: TableAt,
    watch: Watch,
    *words: str | Json,
    target: Json | None = None,
    between: Callable[[int], None] = lambda phase: None,
    env: dict[str, str] | None = None,
    **more: Any,
) -> Ended:
    """The job, done through a proxy that reads along."""
    with watched(at, watch) as proxy:
        job = at.job(*words, target={"endpoints": [proxy.endpoint], **(target or {})}, wait_for_go=True, **more)
        return step_by_step(Engine(job, at.folder, env), watch, between)


def held_against(ended: Ended, watch: Watch) -> None:
    """What the engine counts is what the service got, phase by phase: requests and units."""
    for end in ended.ends():
        asked = watch.of(end["phase"])
        assert sum(host["requests"] for host in end["connections"]) == len(asked), end["operation"]
        assert sum(one["ops"] + one["errors"] for one in end["operations"]) == len(asked), end["operation"]
        told = end["service"] or {"read_units": 0.0, "write_units": 0.0}
        reads, writes = (sum(units) for units in zip(*(one.units() for one in asked), strict=True)) if asked else (0, 0)
        assert abs(told["read_units"] - reads) < 1e-6, end["operation"]
        assert abs(told["write_units"] - writes) < 1e-6, end["operation"]
