"""Converts command lines and configurations of IOR, mdtest and IO500 to studies."""
