"""Reads results of MinIO warp."""
