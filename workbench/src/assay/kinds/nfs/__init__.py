"""NFS exports, which the engine accesses with its own client."""
