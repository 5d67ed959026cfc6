"""CloudFormation templates of designs: pure, from a design to a dict, and to YAML."""
