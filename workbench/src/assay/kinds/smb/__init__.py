"""SMB shares, which the engine accesses with its own client."""
