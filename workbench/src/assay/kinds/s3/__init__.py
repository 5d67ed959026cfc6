"""Buckets of S3 services, which the engine accesses directly."""
