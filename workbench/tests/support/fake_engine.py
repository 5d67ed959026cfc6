#!/usr/bin/env python3
"""An engine that misbehaves on request: the job's id says how."""

import json
import os
import signal
import sys
import time

CAPABILITIES = {"spec_version": 2, "engine_version": "fake", "backends": []}
BACKEND = {
    "kind": "null",
    "operations": ["read"],
    "layouts": ["separate"],
    "methods": ["sync"],
    "direct": False,
    "direct_bypasses_cache": False,
    "direct_alignment_bytes": 0,
    "sync": ["none"],
    "cache": ["keep"],
    "preallocate": False,
    "verify": False,
    "place": None,
}


def say(**event: object) -> None:
    print(json.dumps(event), flush=True)


def hello(job: object) -> None:
    say(
        event="hello",
        spec_version=2,
        engine_version="fake",
        engine_sha256="0",
        job_sha256="0",
        job=job,
        pid=os.getpid(),
        wall_ns=1,
        mono_ns=1,
        clock="fake",
        cpus=1,
        memory_bytes=1,
        kernel="fake",
        backend=BACKEND,
    )


def bye(status: str = "ok", reason: str | None = None) -> None:
    say(event="bye", status=status, reason=reason, max_rss_bytes=1, at_ns=2)


def run() -> None:
    job = json.loads(sys.stdin.readline())
    how = job["id"]
    if how == "refuse":
        print("some advice\nerror: phases[0]: not today", file=sys.stderr)
        sys.exit(2)
    if how == "no-credentials":
        print("error: find credentials: there are none", file=sys.stderr)
        sys.exit(3)
    if how == "silent":
        time.sleep(600)
    if how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if how == "bad-hello":
        say(event="hello")
        bye()
        return
    hello(job)
    if how in ("lists", "lists-nothing-more"):
        for number in range(12):
            say(event="listing", at_ns=number, objects=1000 * number if how == "lists" else 1000)
            time.sleep(0.25)
    if how == "crash":
        print("panicked: out of luck", file=sys.stderr)
        sys.exit(101)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "cut":
        sys.stdout.write('{"event":"log","level":"in')
        sys.stdout.flush()
        os._exit(0)
    if how == "garbage":
        sys.stdout.buffer.write(b"\xff\xfe nonsense\n[1, 2]\n\n")
        sys.stdout.buffer.flush()
    if how == "much-garbage":
        for _ in range(5000):
            print("nonsense")
        sys.stdout.flush()
        time.sleep(600)
    if how == "flood":
        for _ in range(20000):
            sys.stderr.write("x" * 99 + "\n")
        sys.stderr.write("the end\n")
        sys.exit(1)
    if how == "lingers":
        bye()
        time.sleep(600)
    if how == "descendant":
        if os.fork() == 0:
            time.sleep(3)
            os._exit(0)
        os._exit(1)
    if how in ("waits", "stubborn"):
        line = sys.stdin.readline()
        if how == "stubborn":
            time.sleep(600)
        bye("stopped", f"asked: {line.strip()}")
        return
    if how == "errors":
        bye("errors", "3 operations failed")
        sys.exit(1)
    bye()


if sys.argv[1] == "capabilities":
    print(os.environ.get("FAKE_CAPABILITIES", json.dumps(CAPABILITIES)))
else:
    run()
