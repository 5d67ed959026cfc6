"""NFS exports, which the engine reaches by itself."""
