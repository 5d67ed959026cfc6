"""Parts of Assay around its core, each in a folder that registers what it adds (`assay.model.room`)."""
