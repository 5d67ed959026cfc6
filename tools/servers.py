#!/usr/bin/env python3
"""Get the servers that tests measure and that no package has, once, into target/servers.

Some are built with Go, others fetched with Maven. Without these, or without a network, it says so and ends well: the
tests that need a server then say that they are skipped. A server that is in PATH already is not built. Needs no root,
and leaves nothing elsewhere but in Go's and Maven's own caches.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "target" / "servers"
SOURCES = {"versitygw": "github.com/versity/versitygw/cmd/versitygw@v1.8.0"}
"""Apache-2.0. It is run by tests only, and is no part of what is shipped."""
JARS = {"dynamodb-local": ("com.amazonaws", "DynamoDBLocal", "2.5.2")}
"""Group, artifact and version; under a licence of Amazon's own. Likewise."""
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>assay</groupId><artifactId>servers</artifactId><version>1</version>
<dependencies><dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency></dependencies>
</project>
"""
PATIENCE_SECONDS = 1200.0
"""Seconds; it takes two minutes on two cores."""


def go() -> str | None:
    """Go's own program: in PATH, or where its installer puts it."""
    usual = Path("/usr/local/go/bin/go")
    return shutil.which("go") or (str(usual) if usual.is_file() else None)


def build(name: str) -> str:
    """Build a server; why that is not possible, or nothing."""
    if (PLACE / name).is_file() or shutil.which(name):
        return ""
    program = go()
    if not program:
        return "there is no go"
    print(f"building {name} (a few minutes, once)", file=sys.stderr)
    PLACE.mkdir(parents=True, exist_ok=True)
    # What the user has set for his own builds would make another program, or put it elsewhere.
    kept = {key: text for key, text in os.environ.items() if key not in ("GOFLAGS", "GOOS", "GOARCH", "GOWORK")}
    words = [program, "install", "-trimpath", "-ldflags=-s -w", SOURCES[name]]
    return done(words, PLACE, {**kept, "GOBIN": str(PLACE)})


def fetch(name: str) -> str:
    """Fetch a server and all that it needs; why that is not possible, or nothing."""
    if (PLACE / name).is_dir():
        return ""
    missing = [program for program in ("mvn", "java") if not shutil.which(program)]
    if missing:
        return f"there is no {' and no '.join(missing)}"
    print(f"fetching {name} (50 MB, once)", file=sys.stderr)
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PLACE) as folder:
        (Path(folder) / "pom.xml").write_text(POM.format(*JARS[name]))
        made = Path(folder) / "jars"
        words = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={made}"]
        why = done(words, Path(folder), os.environ)
        if not why:
            # At once and whole: half of it would be taken for all of it the next time.
            made.rename(PLACE / name)
        return why


def done(words: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Run a command; why that has failed, or nothing."""
    try:
        subprocess.run(
            words, env=environment, cwd=folder, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL,
            timeout=PATIENCE_SECONDS,
        )  # fmt: skip
    except subprocess.CalledProcessError as error:
        # Go says it last on standard error, Maven first on standard output.
        said = error.stderr.strip().splitlines()[-1:] or error.stdout.strip().splitlines()[:1]
        return (said or [f"{Path(words[0]).name} ended with {error.returncode}"])[0]
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ""


def main() -> int:
    """Always 0, but for a server that is not known."""
    ways = {**dict.fromkeys(SOURCES, build), **dict.fromkeys(JARS, fetch)}
    names = sys.argv[1:] or list(ways)
    unknown = [name for name in names if name not in ways]
    if unknown:
        print(f"error: no such server: {', '.join(unknown)}; there are {', '.join(ways)}", file=sys.stderr)
        return 2
    for name in names:
        why = ways[name](name)
        if why:
            print(f"note: no {name}, since {why}: tests with it will be skipped", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
