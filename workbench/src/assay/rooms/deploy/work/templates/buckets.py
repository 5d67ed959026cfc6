"""Buckets of S3 and tables of DynamoDB as storage of a stack, and what its hosts may do with them."""

from typing import Any

from assay.model.money.design import S3, DynamoDb
from assay.rooms.deploy.model.stack_plan import StackPlan
from assay.rooms.deploy.model.storage_facts import StorageFacts
from assay.rooms.deploy.work.templates.draft import Draft, tags
from assay.rooms.deploy.work.templates.functions import attribute, differs, either, equals, ref, sub
from assay.rooms.deploy.work.templates.parameters import STORAGE, whole_number
from assay.rooms.deploy.work.templates.rights import allow, document, unique_name

BUCKET_CLASSES = {
    "s3-standard": "STANDARD",
    "s3-standard-ia": "STANDARD_IA",
    "s3-one-zone-ia": "ONEZONE_IA",
    "s3-intelligent-tiering": "INTELLIGENT_TIERING",
    "s3-glacier-instant": "GLACIER_IR",
    "s3-glacier-flexible": "GLACIER",
    "s3-deep-archive": "DEEP_ARCHIVE",
}
"""Class of the catalogue -> its name in the API of S3."""
KEY = "pk"
"""Partition key of tables, as targets of studies have it unless they state another one."""
MAX_UNITS = 40_000


def add_bucket(draft: Draft, plan: StackPlan) -> StorageFacts:
    """Add a bucket, encrypted and closed to the public, whose life-cycle rules change classes and remove objects."""
    service = plan.service
    assert isinstance(service, S3)
    _add_bucket_parameters(draft, BUCKET_CLASSES[service.cold_class or service.storage_class])
    abort = {"Id": "abort-uploads", "Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}
    move = {"StorageClass": ref("StorageClass"), "TransitionInDays": ref("TransitionDays")}
    rules = [
        abort,
        either("HasTransition", {"Id": "change-class", "Status": "Enabled", "Transitions": [move]}),
        either("HasExpiration", {"Id": "expire", "Status": "Enabled", "ExpirationInDays": ref("ObjectExpirationDays")}),
    ]
    everything = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
    encryption = {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    properties = {
        "BucketName": unique_name("data"),
        "BucketEncryption": {"ServerSideEncryptionConfiguration": [encryption]},
        "PublicAccessBlockConfiguration": dict.fromkeys(everything, True),
        "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
        "LifecycleConfiguration": {"Rules": rules},
        "Tags": tags("storage"),
    }
    draft.resource("Bucket", "AWS::S3::Bucket", properties)
    bucket, objects = attribute("Bucket", "Arn"), sub("${Bucket.Arn}/*")
    draft.resource("BucketPolicy", "AWS::S3::BucketPolicy", {"Bucket": ref("Bucket"), "PolicyDocument": _only_tls()})
    reading = ["s3:ListBucket", "s3:ListBucketMultipartUploads", "s3:GetBucketVersioning"]
    working = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]
    rights = (allow("Bucket", reading, bucket), allow("Objects", working, objects))
    outputs = {"BucketName": ("Name of the bucket", ref("Bucket"))}
    return StorageFacts(ready=("BucketPolicy",), rights=rights, outputs=outputs)


def _add_bucket_parameters(draft: Draft, default: str) -> None:
    days = 30 if default.endswith("_IA") else 0
    draft.parameter(
        STORAGE,
        "StorageClass",
        "Storage class",
        "Class to which objects are moved after TransitionDays. They are written as STANDARD unless a request states "
        "another one.",
        AllowedValues=[*BUCKET_CLASSES.values()],
        Default=default,
    )
    draft.parameter(
        STORAGE,
        "TransitionDays",
        "Days in STANDARD",
        "Days after which objects are moved to StorageClass; STANDARD_IA and ONEZONE_IA need 30.",
        **whole_number(days, 0, 3650, "must be days from 0 to 3650, and for STANDARD_IA and ONEZONE_IA at least 30"),
    )
    draft.parameter(
        STORAGE,
        "ObjectExpirationDays",
        "Remove objects after",
        "Days after which objects are removed, more than TransitionDays. A bucket that is not empty cannot be "
        "deleted, and the stack remains until it is empty. 0: they stay.",
        # S3 refuses rules by which an object would be gone before its class changes.
        **whole_number(days + 7, 0, 3650, "must be days from 0 to 3650, and more than TransitionDays"),
    )
    draft.conditions |= {
        "HasTransition": differs(ref("StorageClass"), "STANDARD"),
        "HasExpiration": differs(ref("ObjectExpirationDays"), 0),
    }


def _only_tls() -> dict[str, Any]:
    deny = {
        "Sid": "OnlyTls",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [attribute("Bucket", "Arn"), sub("${Bucket.Arn}/*")],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    return document([deny])


def add_table(draft: Draft, plan: StackPlan) -> StorageFacts:
    """Add a table, paid by request or by provisioned units."""
    service = plan.service
    assert isinstance(service, DynamoDb)
    draft.parameter(
        STORAGE,
        "BillingMode",
        "Paid by",
        "Whether requests are paid one by one, or units by the hour.",
        AllowedValues=["PAY_PER_REQUEST", "PROVISIONED"],
        Default="PROVISIONED" if service.mode == "provisioned" else "PAY_PER_REQUEST",
    )
    for kind, count, words in (("Read", service.read_units, "4 KiB"), ("Write", service.write_units, "1 KiB")):
        draft.parameter(
            STORAGE,
            f"{kind}Units",
            f"{kind} units",
            f"{kind} units of {words} a second, in the billing mode PROVISIONED.",
            **whole_number(count or 5, 1, MAX_UNITS, f"must be units from 1 to {MAX_UNITS}"),
        )
    draft.conditions["HasUnits"] = equals(ref("BillingMode"), "PROVISIONED")
    units = {"ReadCapacityUnits": ref("ReadUnits"), "WriteCapacityUnits": ref("WriteUnits")}
    properties = {
        "TableName": unique_name("data"),
        "AttributeDefinitions": [{"AttributeName": KEY, "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": KEY, "KeyType": "HASH"}],
        "BillingMode": ref("BillingMode"),
        "ProvisionedThroughput": either("HasUnits", units),
        "DeletionProtectionEnabled": False,
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False},
        "Tags": tags("storage"),
    }
    draft.resource("Table", "AWS::DynamoDB::Table", properties)
    items = ["GetItem", "PutItem", "UpdateItem", "DeleteItem", "BatchGetItem", "BatchWriteItem", "Query", "Scan"]
    actions = [f"dynamodb:{each}" for each in (*items, "DescribeTable")]
    rights = (allow("Items", actions, attribute("Table", "Arn")),)
    outputs = {"TableName": ("Name of the table, whose partition key is pk", ref("Table"))}
    return StorageFacts(rights=rights, outputs=outputs)
