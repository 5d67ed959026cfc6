"""Assay's terms as frozen classes. Pure: nothing here touches a file, process or clock."""
