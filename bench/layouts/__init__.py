"""Where the bytes of IOR and of Assay land, layout by layout."""
