"""Replication: a source and its replica on two hosts, what happens to them, and what of it can be measured."""
