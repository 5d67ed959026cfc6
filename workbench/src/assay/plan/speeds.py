"""Speeds that are assumed of what several kinds of target are made of, until they are measured."""

from assay.model.study.speed import Speed

STORAGE = Speed(1e9, 100e-6, 30e-6, 16, "a disk")
MEMORY = Speed(2e9, 5e-6, 5e-6, 2, "memory-backed")
NETWORK = Speed(1.1e8, 500e-6, 500e-6, 16, "servers behind a link of 1 Gbit/s")
"""Of one server."""
