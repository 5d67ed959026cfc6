"""A mail to the owner when the deletion of a stack fails.

CloudFormation sends an event when a stack becomes DELETE_FAILED; a rule of EventBridge sends a text to a topic of SNS,
which writes it to the address of the budget. They are made before what can hold a deletion up, and so deleted after it.
SNS writes to an address only after its owner has confirmed that.

Sources: docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/event-detail-stack-status-change.html,
docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html
"""

import json
from typing import Any

from assay.rooms.deploy.work.templates.draft import Draft, tags
from assay.rooms.deploy.work.templates.functions import either, ref, sub
from assay.rooms.deploy.work.templates.parameters import EMAIL, HAS_EMAIL
from assay.rooms.deploy.work.templates.rights import document, unique_name

TOPIC, TOPIC_POLICY, RULE = MAIL = ("EndTopic", "EndTopicPolicy", "EndFailedRule")
TEXT = (
    "The stack ${AWS::StackName} in ${AWS::Region}, account ${AWS::AccountId}, owner ${Owner}, could not be deleted. "
    "What is left of it is charged. After ${ExpiryTime} UTC it tries again each hour, and you get this mail each time. "
    "To see what holds it up, and to delete it: assay deploy down ${AWS::StackName} --region ${AWS::Region}"
)


def add_failure_mail(draft: Draft, after: str) -> dict[str, Any]:
    """Add the mail, if the template has an address, and return the metadata of a resource that is made after it.

    Args:
        draft: The template.
        after: Resource that is deleted after the mail.
    """
    if EMAIL not in draft.parameters:
        return {}
    topic = {
        "TopicName": unique_name("end-failed"),
        "Subscription": [{"Protocol": "email", "Endpoint": ref(EMAIL)}],
        "Tags": tags("end-failed"),
    }
    draft.resource(TOPIC, "AWS::SNS::Topic", topic, HAS_EMAIL, after=(after,))
    # AWS: topic policies for EventBridge cannot have conditions. No other stack has this name.
    statement = {
        "Sid": "Send",
        "Effect": "Allow",
        "Principal": {"Service": "events.amazonaws.com"},
        "Action": "sns:Publish",
        "Resource": ref(TOPIC),
    }
    policy = {"Topics": [ref(TOPIC)], "PolicyDocument": document([statement])}
    draft.resource(TOPIC_POLICY, "AWS::SNS::TopicPolicy", policy, HAS_EMAIL)
    event = {
        "source": ["aws.cloudformation"],
        "detail-type": ["CloudFormation Stack Status Change"],
        "detail": {"stack-id": [ref("AWS::StackId")], "status-details": {"status": ["DELETE_FAILED"]}},
    }
    rule = {
        "Name": unique_name("end-failed"),
        "Description": "Sends a mail when the deletion of the stack fails",
        "EventPattern": event,
        "State": "ENABLED",
        # A constant input is JSON; the values that it has contain no quotation marks.
        "Targets": [{"Id": "mail", "Arn": ref(TOPIC), "Input": sub(json.dumps(TEXT))}],
        "Tags": tags("end-failed"),
    }
    draft.resource(RULE, "AWS::Events::Rule", rule, HAS_EMAIL, after=(TOPIC_POLICY,))
    # `DependsOn` must not name resources that may not exist.
    return {"Metadata": {"MadeAfter": either(HAS_EMAIL, ref(RULE))}}
