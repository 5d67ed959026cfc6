"""What CloudFormation makes of the user data in a template, where every reference must have a value.

moto would cost seconds of CPU for each test, and refuses templates whose image is an SSM parameter.
"""

from collections.abc import Mapping
from typing import Any

from stack_templates import Values

from assay.rooms.deploy.commands.template import plan_of
from assay.rooms.deploy.work.templates.build import build_template
from assay.rooms.deploy.work.templates.plan import HostOptions


def stack_template(design: str, *fixed: str) -> dict[str, Any]:
    """The template of `assay deploy template DESIGN --set KEY=VALUE`."""
    return build_template(plan_of(design, list(fixed), "", HostOptions()))


class ResolvedStack(Values):
    """A template with values for its parameters and resources; a name without a value is an error."""

    def __init__(self, template: dict[str, Any], parameters: Mapping[str, str], resources: Mapping[str, str]) -> None:
        """Take the defaults of the parameters that are not given.

        Args:
            template: The whole template.
            parameters: Name -> value.
            resources: `Name` or `Name.Attribute` -> what it turned out to be.
        """
        unknown = [name for name in parameters if name not in template["Parameters"]]
        assert not unknown, f"the template has no parameters {unknown}"
        super().__init__(template, **parameters, **resources)

    def user_data(self, launch_template: str) -> str:
        """The user data of a launch template, as the host gets it."""
        properties = self.document["Resources"][launch_template]["Properties"]
        return str(self(properties["LaunchTemplateData"]["UserData"]))

    def _ref(self, name: str) -> str:
        return self.names[name]

    def _getatt(self, value: list[str]) -> str:
        return self.names[".".join(value)]
