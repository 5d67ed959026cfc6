"""A bucket as an engine is told of it."""

from assay.contract._generated import Addressing, Balance, Checksum, FlatKeys, PrefixedKeys, RandomKeys
from assay.contract._generated import S3Target as JobTarget
from assay.kinds.http import NULL_SERVICE
from assay.kinds.s3.study import S3Target


def job_target(target: S3Target, directory: str, run: str | None, destroy: bool, servers: int | None) -> JobTarget:
    """As `Target.job_target`; credentials are for the engine to find."""
    return JobTarget(
        kind="s3",
        endpoints=list(target.doors[:servers]),
        balance=Balance(target.balance),
        bucket=target.bucket,
        root=target.prefix,
        directory=directory,
        destroy=destroy,
        region=target.region,
        addressing=Addressing(target.addressed),
        profile=target.profile,
        anonymous=target.anonymous,
        versioned=target.versioned,
        storage_class=target.storage_class,
        checksum=Checksum(target.checksum),
        keys=_keys(target.keys),
        if_none_match=target.if_none_match,
        ca_file=target.ca_file,
        timeout_ns=target.timeout,
    )


def _keys(layout: str) -> FlatKeys | PrefixedKeys | RandomKeys:
    word, _, count = layout.partition(" ")
    if count:
        return PrefixedKeys(layout="prefixes", count=int(count))
    return RandomKeys(layout="random") if word == "random" else FlatKeys(layout="flat")


def at_engine(target: S3Target) -> JobTarget:
    """As `Target.at_engine`: with the same sums, keys and waits, and nobody else's bucket."""
    plain = {
        "endpoints": (NULL_SERVICE,),
        "bucket": "assay-ceiling",
        "addressing": "path",
        "anonymous": False,
        "if_none_match": False,
        "versioned": False,
        "profile": None,
        "ca_file": None,
    }
    return job_target(target.model_copy(update=plain), "ceiling", None, False, None)
