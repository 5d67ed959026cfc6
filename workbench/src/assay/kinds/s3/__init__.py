"""Buckets of S3 services, whose objects the engine puts and gets by itself."""
