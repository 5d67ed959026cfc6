"""Takes what hosts have in memory from them, so that what is read next comes from storage."""
