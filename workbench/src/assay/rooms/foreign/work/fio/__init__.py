"""Converts job files and command lines of fio to studies."""
