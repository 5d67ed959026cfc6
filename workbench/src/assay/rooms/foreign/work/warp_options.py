"""What becomes of each command and option of warp 1.6 in a study."""

COMMANDS = ("get", "put", "mixed", "list", "stat", "delete", "versioned", "multipart", "multipart-put")
"""Benchmarks that a study can do."""

REFUSED_COMMANDS = {
    "retention": "no lock is set on objects",
    "append": "objects are put whole, not added to",
    "zip": "MinIO's requests for files in an archive are no requests of S3",
    "fanout": "MinIO's request that puts an object under many names is none of S3",
    "snowball": "MinIO's request that unpacks an archive is none of S3",
    "iceberg": "tables in catalogues of Iceberg are no target",
    "client": "it measures nothing: write the command line with --warp-client",
    "analyze": "it measures nothing: `assay import` reads what warp has written",
    "cmp": "it measures nothing: `assay compare` compares runs",
    "merge": "it measures nothing: `assay import` reads what warp has written",
    "run": "the file is not read: write its options on the command line",
    "help": "it measures nothing",
    "version": "it measures nothing",
}
"""Command -> why it has no study."""

MAPPED = frozenset(
    [
        *("host", "tls", "ktls", "region", "bucket", "host-select", "concurrent", "prefix", "noprefix", "md5"),
        *("disable-multipart", "storage-class", "lookup", "checksum", "rps-limit", "obj.size", "obj.randsize"),
        *("duration", "warp-client", "objects", "part.size", "range", "range-size", "list-existing", "batch"),
        *("get-distrib", "stat-distrib", "put-distrib", "delete-distrib", "parts", "part.concurrent"),
    ]
)
"""Options that a study has."""

REFUSED = {
    "rdma": "data goes over TCP",
    "signature": "requests are signed by version 4 only",
    "help": "it measures nothing",
    "h": "it measures nothing",
}
"""Option -> why a command line with it is refused; `signature` only with S3V2."""

NOTES = {
    "access-key": "no key is in a study: set AWS_ACCESS_KEY_ID where engines run",
    "secret-key": "no key is in a study: set AWS_SECRET_ACCESS_KEY where engines run",
    "session-token": "no key is in a study: set AWS_SESSION_TOKEN where engines run",
    "sts-web-token": "no key is in a study: a web identity is taken from the environment",
    "encrypt": "left out: objects are not encrypted by request",
    "sse-s3-encrypt": "left out: objects are not encrypted by request",
    "insecure": "certificates are always checked: write ca_file in the target",
    "resolve-host": "left out: write the addresses as endpoints",
    "disable-sha256-payload": "requests are signed, their contents are not",
    "disable-http-keepalive": "left out: connections stay open",
    "http2": "left out: requests go by HTTP/1.1",
    "sndbuf": "left out: the kernel chooses sizes of buffers",
    "rcvbuf": "left out: the kernel chooses sizes of buffers",
    "stress": "left out: an error is always shown",
    "autoterm": "left out: the duration decides; change runtime",
    "autoterm.dur": "left out: the duration decides; change runtime",
    "autoterm.pct": "left out: the duration decides; change runtime",
    "noclear": "nothing is removed but what the run has made",
    "keep-data": "write output: {keep_files: true}",
    "syncstart": "hosts begin together, after a barrier",
    "add-metadata": "left out: objects have no metadata of the user's",
    "tag": "left out: objects have no tags",
    "obj.generator": "contents are a function of the study's seed",
    "post": "put, without a form",
    "versions": "left out: each object has one version; versioned: true in the target keeps several",
    "list-flat": "left out: a list shows all keys below the prefix",
    "max-keys": "a page of a list has 1000 names",
    "metadata": "left out: a list has names only",
    "obj.name": "names of objects are the run's own",
}
"""Option -> what is different, for the head of a study."""

HARMLESS = frozenset(
    [
        *("quiet", "q", "no-color", "json", "debug", "autocompletion", "influxdb", "stdout", "benchdata", "serverprof"),
        *("web", "analyze.v", "full", "cpu", "mem", "block", "mutex", "threads", "trace", "analyze.dur", "analyze.out"),
        *("analyze.op", "analyze.host", "analyze.skip", "analyze.limit", "analyze.offset", "serve", "pprofdir"),
        *("_upload-id", "_part-start", "files", "copies", "objs.per", "compress"),
    ]
)
"""Options without effect on the work: what is printed and where, warp's own profile, and what only refused commands
have."""
