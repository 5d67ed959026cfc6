"""Buckets of a stack: what is in them, and how they are emptied."""

from dataclasses import dataclass

from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.model.stack import Stack
from assay.rooms.deploy.work.life.cloud import Cloud

COUNTED_OBJECTS = 1000
"""Objects of a bucket that are counted; more are `1,000 or more`."""
BATCH = 1000
"""Objects that one request deletes at most (S3 API, DeleteObjects)."""


@dataclass(frozen=True)
class BucketContent:
    """A bucket of a stack that is not empty.

    Attributes:
        name: Its name.
        objects: Its objects and older versions, at most `COUNTED_OBJECTS`.
    """

    name: str
    objects: int

    def text(self) -> str:
        """Return the bucket and what it contains in words."""
        more = " or more" if self.objects >= COUNTED_OBJECTS else ""
        return f"bucket {self.name} has {self.objects:,}{more} objects and versions"


def filled_buckets(cloud: Cloud, stack: Stack) -> list[BucketContent]:
    """Return the buckets of a stack that have objects, older versions or unfinished uploads.

    Raises:
        CloudError: A service cannot be queried.
    """
    answers = cloud.pages("cloudformation", "list_stack_resources", "StackResourceSummaries", StackName=stack.id)
    names = [
        str(each["PhysicalResourceId"])
        for each in answers
        if each["ResourceType"] == "AWS::S3::Bucket"
        and each.get("PhysicalResourceId")
        and each.get("ResourceStatus") != "DELETE_COMPLETE"
    ]
    contents = [BucketContent(name, _object_count(cloud, name)) for name in names]
    return [content for content in contents if content.objects]


def _object_count(cloud: Cloud, bucket: str) -> int:
    """Return the number of versions, delete markers and unfinished uploads, counted up to `COUNTED_OBJECTS`."""
    try:
        answer = cloud.call("s3", "list_object_versions", Bucket=bucket, MaxKeys=COUNTED_OBJECTS)
        uploads = cloud.call("s3", "list_multipart_uploads", Bucket=bucket, MaxUploads=COUNTED_OBJECTS)
    except CloudError as error:
        if error.kind is FaultKind.MISSING:
            return 0
        raise
    return sum(len(answer.get(key, [])) for key in ("Versions", "DeleteMarkers")) + len(uploads.get("Uploads", []))


def empty_bucket(cloud: Cloud, bucket: str) -> None:
    """Delete all objects of a bucket, in all versions, and unfinished uploads.

    Raises:
        CloudError: Something cannot be deleted.
    """
    while True:
        answer = cloud.call("s3", "list_object_versions", Bucket=bucket, MaxKeys=BATCH)
        found = [*answer.get("Versions", []), *answer.get("DeleteMarkers", [])]
        if not found:
            break
        names = [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in found]
        done = cloud.call("s3", "delete_objects", Bucket=bucket, Delete={"Objects": names, "Quiet": True})
        if done.get("Errors"):
            code = str(done["Errors"][0].get("Code", ""))
            message = f"bucket {bucket}: an object cannot be deleted: {code}"
            raise CloudError(FaultKind.NOT_EMPTY, message, "look at it in the console; it may be under object lock")
    for upload in cloud.pages("s3", "list_multipart_uploads", "Uploads", Bucket=bucket):
        cloud.call("s3", "abort_multipart_upload", Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
