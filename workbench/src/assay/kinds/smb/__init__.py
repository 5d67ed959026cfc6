"""SMB shares, which the engine reaches by itself."""
