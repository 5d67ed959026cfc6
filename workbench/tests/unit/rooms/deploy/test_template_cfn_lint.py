"""One template as cfn-lint sees it; `tests/runs/test_template_lint.py` has the others."""

from cfnlint.api import ManualArgs, lint
from stack_templates import template

from assay.rooms.deploy.work.templates.render import template_yaml


def test_cfn_lint_finds_nothing_in_the_nfs_server() -> None:
    text = template_yaml(template("nfs-gp3"))
    found = lint(text, config=ManualArgs(regions=["eu-west-1", "us-east-1"], include_checks=["W"]))
    assert [str(each) for each in found] == []
