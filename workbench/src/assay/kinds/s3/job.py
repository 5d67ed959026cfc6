"""A bucket in a job of the engine."""

from assay.contract._generated import Addressing, Checksum, FlatKeys, PrefixedKeys, RandomKeys
from assay.contract._generated import S3Target as JobTarget
from assay.kinds.http_engine import common_job_fields
from assay.kinds.s3.study import S3Target

ENGINE_SERVICE_FIELDS = {
    "bucket": "assay-ceiling",
    "addressing": "path",
    "anonymous": False,
    "if_none_match": False,
    "versioned": False,
}
"""Fields that differ at the engine's own service: see `HttpTarget.at_engine`."""


def job_target(target: S3Target, directory: str, run: str | None, destroy: bool, servers: int | None) -> JobTarget:
    """See `Target.job_target`."""
    return JobTarget(
        kind="s3",
        **common_job_fields(target, directory, run, destroy, servers),
        bucket=target.bucket,
        existing=target.existing,
        addressing=Addressing(target.addressing_style),
        anonymous=target.anonymous,
        versioned=target.versioned,
        storage_class=target.storage_class,
        checksum=Checksum(target.checksum),
        keys=_keys(target.keys),
        if_none_match=target.if_none_match,
    )


def _keys(layout: str) -> FlatKeys | PrefixedKeys | RandomKeys:
    word, _, count = layout.partition(" ")
    if count:
        return PrefixedKeys(layout="prefixes", count=int(count))
    return RandomKeys(layout="random") if word == "random" else FlatKeys(layout="flat")
