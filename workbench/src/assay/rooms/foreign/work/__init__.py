"""Converts command lines and files of other tools to studies."""
