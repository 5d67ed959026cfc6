"""No storage: what the engine and the workbench do without any."""
