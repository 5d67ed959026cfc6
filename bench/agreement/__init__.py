"""Assay and fio on the same work: whether they measure the same, and why where they do not."""
