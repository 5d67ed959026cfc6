"""Designs of Azure and Google as documents of OpenTofu and Terraform; applying them is the user's."""
