"""Papers: documents that can be sent, made from runs and from what their authors write."""
