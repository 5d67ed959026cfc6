"""What CloudFormation makes of the user data in a template, for the functions that our templates use.

It is small on purpose: moto would cost seconds of CPU for each test, and refuses templates whose image is an SSM
parameter.
"""

import base64
import re
from collections.abc import Mapping
from typing import Any

from assay.rooms.deploy.commands.template import plan_of
from assay.rooms.deploy.work.templates.build import build_template
from assay.rooms.deploy.work.templates.plan import HostOptions

MARK = re.compile(r"\$\{([^}]*)\}")


def stack_template(design: str, *fixed: str, options: HostOptions | None = None) -> dict[str, Any]:
    """The template of `assay deploy template DESIGN --set KEY=VALUE`."""
    return build_template(plan_of(design, list(fixed), "", options or HostOptions()))


class ResolvedStack:
    """A template with values for its parameters and resources."""

    def __init__(self, template: Mapping[str, Any], parameters: Mapping[str, str], resources: Mapping[str, str]):
        """Take the defaults of the parameters that are not given.

        Args:
            template: The whole template.
            parameters: Name -> value.
            resources: `Name` or `Name.Attribute` -> what it turned out to be.
        """
        self.template = template
        unknown = [name for name in parameters if name not in template["Parameters"]]
        assert not unknown, f"the template has no parameters {unknown}"
        defaults = {name: str(about.get("Default", "")) for name, about in template["Parameters"].items()}
        self.known = {**defaults, "AWS::Region": "us-east-1", "AWS::StackName": "assay-test", **parameters, **resources}

    def user_data(self, launch_template: str) -> str:
        """The user data of a launch template, as the host gets it."""
        properties = self.template["Resources"][launch_template]["Properties"]
        return base64.b64decode(self.value(properties["LaunchTemplateData"]["UserData"])).decode()

    def value(self, part: Any) -> Any:
        """What a part of the template comes to; a name without a value is an error."""
        if not isinstance(part, dict) or len(part) != 1:
            return part
        ((function, body),) = part.items()
        match function:
            case "Ref":
                return self.known[body]
            case "Fn::GetAtt":
                return self.known[".".join(body)]
            case "Fn::Sub":
                text, own = (body, {}) if isinstance(body, str) else body
                return MARK.sub(lambda found: self._substitute(found[1], own), text)
            case "Fn::Join":
                return body[0].join(self.value(each) for each in body[1])
            case "Fn::If":
                return self.value(body[1] if self.holds({"Condition": body[0]}) else body[2])
            case "Fn::FindInMap":
                first, second, third = (self.value(each) for each in body)
                return self.template["Mappings"][first][second][third]
            case "Fn::Base64":
                return base64.b64encode(self.value(body).encode()).decode()
        raise AssertionError(f"this resolver has no {function}")

    def holds(self, condition: Any) -> bool:
        """Whether a condition holds."""
        ((function, body),) = condition.items()
        match function:
            case "Condition":
                return self.holds(self.template["Conditions"][body])
            case "Fn::Equals":
                return str(self.value(body[0])) == str(self.value(body[1]))
            case "Fn::Not":
                return not self.holds(body[0])
            case "Fn::And":
                return all(self.holds(each) for each in body)
            case "Fn::Or":
                return any(self.holds(each) for each in body)
        raise AssertionError(f"this resolver has no {function}")

    def _substitute(self, name: str, own: Mapping[str, Any]) -> str:
        if name.startswith("!"):
            return "${" + name[1:] + "}"
        return str(self.value(own[name]) if name in own else self.known[name])
