"""A bucket for a template that is too long for a request; it exists only while the stack is being asked for."""

import uuid
from collections.abc import Sequence

from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.work.life.buckets import empty_bucket
from assay.rooms.deploy.work.life.cloud import Cloud
from assay.rooms.deploy.work.life.records import StackJournal, advance

KEY = "template.json"
_DEFAULT_REGION = "us-east-1"
"""The region whose buckets are made without naming it (S3 API, CreateBucket)."""


def stage_template(cloud: Cloud, journal: StackJournal, text: str, tags: Sequence[dict[str, str]]) -> str:
    """Put a template into a bucket of its own, after recording the bucket, and return the template's address.

    Raises:
        CloudError: S3 refuses it.
        AssayError: The bucket cannot be recorded.
    """
    bucket = f"assay-template-{uuid.uuid4().hex}"
    record = journal.read()
    assert record is not None
    advance(journal, record, bucket=bucket)
    place = {} if cloud.region == _DEFAULT_REGION else {"LocationConstraint": cloud.region}
    cloud.call("s3", "create_bucket", Bucket=bucket, **({"CreateBucketConfiguration": place} if place else {}))
    cloud.call("s3", "put_bucket_tagging", Bucket=bucket, Tagging={"TagSet": list(tags)})
    cloud.call("s3", "put_object", Bucket=bucket, Key=KEY, Body=text.encode())
    ending = "amazonaws.com.cn" if cloud.region.startswith("cn-") else "amazonaws.com"
    return f"https://{bucket}.s3.{cloud.region}.{ending}/{KEY}"


def remove_staging(cloud: Cloud, journal: StackJournal) -> None:
    """Remove the bucket that an earlier call, or an earlier command, made for a template; nothing if there is none.

    Raises:
        CloudError: It cannot be removed; it stays recorded.
    """
    record = journal.read()
    if record is None or not record.bucket:
        return
    try:
        empty_bucket(cloud, record.bucket)
        cloud.call("s3", "delete_bucket", Bucket=record.bucket)
    except CloudError as error:
        if error.kind is not FaultKind.MISSING:
            raise
    advance(journal, record, bucket="")
