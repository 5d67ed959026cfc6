#!/usr/bin/env python3
"""An engine that attacks its workbench. HOW, below, says in which way; all but `run` is answered by a real one.

Ways that begin with `edit-` pass a real engine's output on, changed; the others make up their own.
"""

import base64
import json
import os
import signal
import struct
import subprocess
import sys
import time
import zlib

HOW = "silence"
REAL = "assay-engine"
ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202eevil\x9b31m\r\nsecond line"
FORGED = '{"event":"host","host":"forged","status":"ok","reason":"","offset_ns":0,"uncertainty_ns":0,"lines":1000000}'


def say(**event):
    print(json.dumps(event), flush=True)


def bomb(size):
    """A histogram whose compressed part becomes so many bytes."""
    packed = zlib.compress(struct.pack(">IIIIQQd", 0x1C849313, size, 0, 3, 1, 2**62, 1.0) + b"\0" * size, 9)
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()


BOMB = bomb(64 << 20) if HOW.endswith("bomb") else ""


def flood(make, pause=0.0):
    number = 0
    while True:
        try:
            sys.stdout.write(make(number) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            sys.exit(1)
        number += 1
        time.sleep(pause)


def bye(status="ok", reason=None):
    say(event="bye", status=status, reason=reason, max_rss_bytes=1, at_ns=time.monotonic_ns())


def interval(number, ops=0):
    start = number * 10**9
    return json.dumps(
        {
            "event": "interval",
            "phase": 0,
            "index": number,
            "start_ns": start,
            "end_ns": start + 10**9,
            "operations": [{"operation": "read", "ops": ops, "bytes": ops, "errors": 0}],
        }
    )


def log(number):
    return json.dumps({"event": "log", "level": "info", "message": f"{number} {'x' * 200}"})


def hello_of(job):
    """What a real engine says of this job before anything is done."""
    job = {**job, "wait_for_go": False, "lease_ns": None, "ranks": 1, "rank": 0}
    real = subprocess.Popen([REAL, "run", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    real.stdin.write(json.dumps(job).encode() + b"\n")
    real.stdin.flush()
    hello = json.loads(real.stdout.readline())
    real.kill()
    real.wait()
    return hello


def starts(number):
    return json.dumps(
        {
            "event": "phase_start",
            "phase": 0,
            "operation": "write",
            "measured": True,
            "at_ns": time.monotonic_ns(),
            "method": "sync",
            "method_reason": ESCAPES,
            "planned_ops": None,
            "planned_bytes": None,
        }
    )


def made_up(how):
    """Ways that need no real stream."""
    if how == "never-reads":
        flood(log, 0.05)
    job = json.loads(sys.stdin.readline())
    if how == "silence":
        time.sleep(3600)
    if how == "exits":
        sys.exit(0)
    if how == "closes-output":
        os.close(1)
        time.sleep(3600)
    if how == "bye-only":
        bye()
        return
    if how == "endless-line":
        while True:
            os.write(1, b"x" * 65536)
    if how == "garbage":
        flood(lambda _: "\ufffd nonsense " + ESCAPES)
    if how == "stderr":
        sys.stderr.write("x" * 100_000 + "\nerror: " + ESCAPES)
        sys.exit(101)
    say(**hello_of(job) | {"job": job})
    if how == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)
    if how == "logs":
        flood(log)
    if how == "slow-logs":
        flood(log, 0.1)
    if how == "pongs":
        flood(lambda number: json.dumps({"event": "pong", "ping": number, "at_ns": number}), 0.01)
    if how == "phases":
        flood(starts)
    if how == "bye-flood":
        bye()
        flood(log)
    print(starts(0), flush=True)
    if how == "intervals":
        flood(interval, 0.01)
    if how == "busy-intervals":
        flood(lambda number: interval(number, 1), 0.05)
    if how == "long-lines":
        flood(lambda _: json.dumps({"event": "log", "level": "info", "message": "x" * 2_000_000}))
    if how == "child-floods":
        if os.fork() == 0:
            signal.alarm(60)
            flood(log)
        os._exit(0)


def edited(how, event):
    """A real engine's event, changed; None leaves it out."""
    kind = event["event"]
    end = kind == "phase_end" and event["phase"] == 0
    writes = next((done for done in event.get("operations", ()) if done["operation"] == "write"), None)
    latency = writes["latency"] if end and writes else None
    if how == "edit-bomb" and latency:
        latency["histogram"] = BOMB
    if how == "edit-interval-bomb" and kind == "interval" and writes:
        writes["latency"] = BOMB
    if how == "edit-errno" and end:
        event["errors"] = [{"kind": "fault", "fault": {"domain": "os", "code": 2**40}, "count": 1}]
    if how == "edit-bytes" and end:
        writes["bytes"] *= 1000
        event["last_finisher"]["bytes"] *= 1000
        for lane in event["lanes"]:
            lane["operations"][0]["bytes"] *= 1000
    if how == "edit-giant" and end:
        writes["ops"] = 10**30
    if how == "edit-nan" and latency:
        latency["mean_ns"] = float("nan")
    if how == "edit-time" and end:
        event["last_finisher"]["end_ns"] = 2**62
    if how == "edit-backwards" and end:
        event["last_finisher"]["start_ns"] = event["last_finisher"]["end_ns"] + 5
    if how == "edit-phase" and kind == "phase_start":
        event["phase"] += 1000
    if how == "edit-no-end" and kind == "phase_end":
        return None
    if how == "edit-job" and kind == "hello":
        event["job"]["file_size_bytes"] *= 2
    if how == "edit-zero" and kind == "phase_end":
        none = {"ops": 0, "bytes": 0}
        event.update(operations=[], steady=None)
        for window in ("last_finisher", "first_finisher"):
            event[window] = {**event[window], **none}
        for lane in event["lanes"]:
            lane["operations"] = []
    if how == "edit-zero" and kind == "interval":
        return None
    if how == "edit-escapes" and kind == "phase_end":
        event["cache_done"] = ESCAPES
    if how == "edit-escapes" and kind == "phase_start":
        event["method_reason"] = ESCAPES
    if how == "edit-escapes" and kind == "bye":
        event["status"], event["reason"] = "errors", ESCAPES
    return event


def escaped_failure(phase):
    return json.dumps(
        {
            "event": "error_sample",
            "phase": phase,
            "lane": 0,
            "action": ESCAPES,
            "object": ESCAPES,
            "offset": 0,
            "length": 1,
            "kind": "fault",
            "fault": {"domain": "os", "code": 5},
            "message": ESCAPES,
        }
    )


def changed(how):
    real = subprocess.Popen([REAL, "run", "-"], stdout=subprocess.PIPE)
    for line in real.stdout:
        event = json.loads(line)
        if how == "edit-forged":
            print(FORGED)
        event = edited(how, event)
        if event is not None:
            if how == "edit-escapes" and event["event"] == "phase_end":
                print(escaped_failure(event["phase"]))
            print(json.dumps(event), flush=True)
    sys.stderr.write(ESCAPES)
    sys.exit(real.wait())


if len(sys.argv) > 1 and sys.argv[1] == "run":
    changed(HOW) if HOW.startswith("edit-") else made_up(HOW)
else:
    os.execv(REAL, [REAL, *sys.argv[1:]])
