"""What tests of buckets share: jobs, the engine that does them, what it says, and a look at the bucket with boto3."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from run_tools import ENGINE
from s3_servers import ACCESS_KEY, HANG_GUARD, SECRET_KEY, S3Server

KIB, MIB, SECOND = 1 << 10, 1 << 20, 10**9
BUCKET, ROOT, DIRECTORY = "assay-tests", "assay", "c1-r1"
FOLDER = f"{ROOT}/{DIRECTORY}/"
MARK = ".assay-target"
Json = dict[str, Any]


ROOT_KEYS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
"""The environment with which an engine is root at the services of tests."""


def environment(**more: str) -> dict[str, str]:
    """Of an engine: nothing of what the user has set for S3, and no question to an instance."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
    return {**kept, "HOME": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true", **more}


def phases(*words: str | Json) -> list[Json]:
    """Phases by their operations; `prepare` is no result."""
    return [
        word if isinstance(word, dict) else {"operation": word, **({"measured": False} if word == "prepare" else {})}
        for word in words
    ]


def target_at(endpoint: str | list[str], **more: Any) -> Json:
    """A target; what is left out is what most tests want."""
    endpoints = [endpoint] if isinstance(endpoint, str) else endpoint
    base = {"kind": "s3", "endpoints": endpoints, "bucket": BUCKET, "root": ROOT, "directory": DIRECTORY}
    return {**base, **more}


def job_at(endpoint: str | list[str], *words: str | Json, target: Json | None = None, **more: Any) -> Json:
    """A job with these phases on twelve objects of 64 KiB, four at a time, of which each byte read is checked."""
    return job_of(target_at(endpoint, **(target or {})), *words, **more)


def job_of(target: Json, *words: str | Json, **more: Any) -> Json:
    """The same, at any target that keeps objects."""
    base: Json = {
        "spec_version": 2,
        "id": target["kind"],
        "seed": 11,
        "target": target,
        "lanes": 1,
        "queue_depth": 4,
        "file_size_bytes": 64 * KIB,
        "record_size_bytes": 64 * KIB,
        "objects": {"count": 12},
        "data": {"verify": True},
        "phases": phases(*words),
    }
    return {**base, **more}


@dataclass
class Ended:
    """What an engine has said, and how it ended."""

    code: int
    stdout: str
    stderr: str
    events: list[Json] = field(default_factory=list)

    @property
    def bye(self) -> Json:
        """The last event."""
        return self.events[-1]

    @property
    def status(self) -> str:
        """How the job ended; one that could not even be begun has no events."""
        return str(self.bye["status"]) if self.events else "refused"

    @property
    def reason(self) -> str:
        """Why, if not well."""
        return str(self.bye.get("reason") or "") if self.events else self.stderr

    def ends(self) -> list[Json]:
        """The ends of all phases."""
        return [event for event in self.events if event["event"] == "phase_end"]

    def end(self, operation: str) -> Json:
        """The end of the only phase of an operation."""
        (found,) = [event for event in self.ends() if event["operation"] == operation]
        return found

    def of(self, operation: str, kind: str = "") -> Json:
        """Counts of one kind of operation in the only phase of an operation; the same, if it is left out."""
        (found,) = [one for one in self.end(operation)["operations"] if one["operation"] == (kind or operation)]
        return found

    def failures(self) -> dict[str, int]:
        """What failed in all phases: `kind name`, or the kind alone, and how often."""
        found: dict[str, int] = {}
        for end in self.ends():
            for error in end["errors"]:
                words = f"{error['kind']} {error['name'] or ''}".strip()
                found[words] = found.get(words, 0) + int(error["count"])
        return found

    def requests(self) -> int:
        """Requests of all phases, as the engine counts them."""
        return sum(int(host["requests"]) for end in self.ends() for host in end.get("connections", ()))

    def operations(self) -> int:
        """Operations of all phases, failed ones included."""
        return sum(int(one["ops"]) + int(one["errors"]) for end in self.ends() for one in end["operations"])


class Engine:
    """An engine at work, of which what it says is read when it has ended, or line by line."""

    def __init__(self, job: Json, folder: Path, env: dict[str, str] | None = None, within: Sequence[str] = ()) -> None:
        """Start it, by these words; what it says on standard error goes into a file of the folder."""
        self._stderr = (folder / f"engine-{time.monotonic_ns()}.stderr").open("w+")
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*within, ENGINE, "run"], stdin=pipe, stdout=pipe, stderr=self._stderr, text=True,
            env=environment(**(ROOT_KEYS if env is None else env)),
        )  # fmt: skip
        self.lines: list[str] = []
        self.say(job)

    def wait_for(self, word: str) -> None:
        """Read up to the first line in which a word is."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)
            if word in line:
                return
        raise AssertionError("".join(self.lines))

    def say(self, line: Json) -> None:
        """Something for its standard input, the first line of which is its job."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def end(self) -> Ended:
        """Wait for its end."""
        assert self.process.stdout and self.process.stdin
        with self.process.stdout, self._stderr:
            self.lines += list(self.process.stdout)
            code = self.process.wait(timeout=HANG_GUARD)
            self.process.stdin.close()
            self._stderr.seek(0)
            stdout = "".join(self.lines)
            events = [json.loads(line) for line in stdout.splitlines()]
            return Ended(code, stdout, self._stderr.read(), events)

    def stop(self, how: str) -> None:
        """Have it stop before its work is done, by the word "stop" or by "end of input"."""
        if how == "stop":
            self.say({"stop": True})
        elif self.process.stdin:
            self.process.stdin.close()
        ended = self.end()
        assert (ended.code, ended.status) == (1, "stopped")

    def kill(self) -> None:
        """SIGKILL: it can tidy up nothing."""
        self.process.kill()
        self.end_killed()

    def end_killed(self) -> None:
        """Take what is left of one that was killed."""
        assert self.process.stdout and self.process.stdin
        self.process.wait()
        self.process.stdin.close()
        self.lines += list(self.process.stdout)
        self.process.stdout.close()
        self._stderr.close()


def run_job(job: Json, folder: Path, env: dict[str, str] | None = None) -> Ended:
    """The job, done."""
    return Engine(job, folder, env).end()


def done_well(job: Json, folder: Path, env: dict[str, str] | None = None) -> Ended:
    """The job, done without a failure, and with one request for each operation."""
    ended = run_job(job, folder, env)
    assert (ended.code, ended.status) == (0, "ok"), (ended.reason, ended.failures(), ended.stderr)
    assert ended.requests() == ended.operations(), [end["connections"] for end in ended.ends()]
    return ended


SLOW_PUTS: Json = {"operation": "put", "rate_per_s": 100.0, "runtime_ns": 3600 * SECOND}
SLOW_MORE: Json = {"objects": {"count": 1000}, "error_limit": 10**6, "interval_ns": SECOND // 10}


def killed_and_back(server: S3Server, job: Json, folder: Path) -> None:
    """A job of slow puts, whose service is killed and comes back. What is asked meanwhile has failed, once each."""
    engine = Engine(job, folder)

    def wait_for(wanted: Callable[[Json], bool]) -> None:
        """Until in an interval it goes as it should."""
        while True:
            engine.wait_for('"interval"')
            if any(wanted(one) for one in json.loads(engine.lines[-1])["operations"]):
                return

    wait_for(lambda one: one["ops"] > 0)
    server.kill()
    wait_for(lambda one: one["errors"] > 0 and one["ops"] == 0)
    server.start()
    wait_for(lambda one: one["errors"] == 0 and one["ops"] > 0)
    engine.say({"stop": True})
    ended = engine.end()
    assert (ended.code, ended.status) == (1, "stopped")
    assert set(ended.failures()) <= {"fault ECONNREFUSED", "fault ECONNRESET", "fault ECONNABORTED", "fault EPIPE"}
    put, (host,) = ended.of("put"), ended.end("put")["connections"]
    assert put["errors"] == sum(ended.failures().values()) > 0
    assert host["refused"] == ended.failures()["fault ECONNREFUSED"] > 0
    assert host["requests"] + host["refused"] == ended.operations(), "nothing is retried"


def left_by(target: Json, **told: Any) -> Json:
    """A job at a target that can have left what the tests' jobs do, with what engines have told of it."""
    copies = ["copy"] if target["kind"] == "s3" else []
    return {"job": job_of(target, "put", *copies, lanes=4, objects={"count": 200}), **told}


def clean(
    target: Json, *words: str, env: dict[str, str] | None = None, left: Json | None = None
) -> subprocess.CompletedProcess[str]:
    """`assay-engine clean` of a target with `--root`, else of what a job has left there."""
    bare = "--root" in words or target.get("existing") is not None
    asked = target if bare else left or left_by(target)
    return subprocess.run(
        [ENGINE, "clean", *words, "-"], input=json.dumps(asked), capture_output=True, text=True, check=False,
        env=environment(**(ROOT_KEYS if env is None else env)), timeout=HANG_GUARD,
    )  # fmt: skip


def cleaned(target: Json, *words: str, left: Json | None = None) -> list[str]:
    """What `assay-engine clean` says it has removed."""
    done = clean(target, *words, left=left)
    assert done.returncode == 0, (done.stdout, done.stderr)
    removed: list[str] = json.loads(done.stdout.splitlines()[-1]).get("removed", [])
    return removed


def client(server: S3Server) -> Any:
    """boto3 at a service; it retries nothing and adds no sums."""
    return boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        region_name="us-east-1",
        config=Config(
            retries={"max_attempts": 0},
            s3={"addressing_style": "path"},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )


@dataclass(frozen=True)
class At:
    """A bucket of a test's own at a service; it is not made yet.

    Attributes:
        folder: For jobs and what engines say.
    """

    server: S3Server
    bucket: str
    folder: Path

    @property
    def s3(self) -> Any:
        """boto3 at the service."""
        return client(self.server)

    def target(self, **more: Any) -> Json:
        """The target of the test's jobs."""
        return target_at(self.server.endpoint, **{"bucket": self.bucket, **more})

    def job(self, *words: str | Json, target: Json | None = None, **more: Any) -> Json:
        """A job in this bucket."""
        return job_at(self.server.endpoint, *words, target={"bucket": self.bucket, **(target or {})}, **more)

    def run(self, *words: str | Json, env: dict[str, str] | None = None, **more: Any) -> Ended:
        """The job, done."""
        return run_job(self.job(*words, **more), self.folder, env)

    def well(self, *words: str | Json, env: dict[str, str] | None = None, **more: Any) -> Ended:
        """The job, done well."""
        return done_well(self.job(*words, **more), self.folder, env)

    def make(self, **objects: bytes) -> None:
        """Make the bucket as somebody else would, with these objects; `__` in their names stands for a slash."""
        self.s3.create_bucket(Bucket=self.bucket)
        for key, contents in objects.items():
            self.s3.put_object(Bucket=self.bucket, Key=key.replace("__", "/"), Body=contents)

    def sizes(self) -> dict[str, int]:
        """Every key in the bucket and the size of its object."""
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket)
        return {one["Key"]: one["Size"] for page in pages for one in page.get("Contents", [])}

    def objects(self) -> dict[str, int]:
        """The same, without the mark."""
        return {key: size for key, size in self.sizes().items() if key != MARK}

    def contents(self, key: str) -> bytes:
        """Of an object."""
        found: bytes = self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()
        return found

    def versions(self) -> list[str]:
        """The key of every version and delete marker but the mark's."""
        pages = self.s3.get_paginator("list_object_versions").paginate(Bucket=self.bucket)
        every = [one for page in pages for one in page.get("Versions", []) + page.get("DeleteMarkers", [])]
        return [one["Key"] for one in every if one["Key"] != MARK]

    def uploads(self) -> list[str]:
        """Keys of uploads that were begun and not completed."""
        return [one["Key"] for one in self.s3.list_multipart_uploads(Bucket=self.bucket).get("Uploads", [])]

    def abort_uploads(self) -> None:
        """Abort them all."""
        for one in self.s3.list_multipart_uploads(Bucket=self.bucket).get("Uploads", []):
            self.s3.abort_multipart_upload(Bucket=self.bucket, Key=one["Key"], UploadId=one["UploadId"])

    def is_there(self) -> bool:
        """Whether the bucket is."""
        return self.bucket in {one["Name"] for one in self.s3.list_buckets()["Buckets"]}


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Look until something is so."""
    until = time.monotonic() + HANG_GUARD
    while not condition():
        assert time.monotonic() < until, f"waited {HANG_GUARD:.0f} s in vain for {what}"
        time.sleep(0.01)
