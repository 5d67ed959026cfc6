"""Converts command lines of iozone to studies."""
