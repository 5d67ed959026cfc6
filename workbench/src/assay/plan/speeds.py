"""Assumed speeds of disks, memory and networks, used until a target is measured."""

from assay.model.study.speed import Speed

STORAGE = Speed(1e9, 100e-6, 30e-6, 16, "a disk")
MEMORY = Speed(2e9, 5e-6, 5e-6, 2, "memory-backed")
NETWORK = Speed(1.1e8, 500e-6, 500e-6, 16, "servers behind a link of 1 Gbit/s")
"""Speed of one server."""
