"""Empties the caches of hosts, so that the next reads come from storage."""
