"""The null target, which has no storage: for measuring and testing engine and workbench themselves."""
