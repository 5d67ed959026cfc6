"""`assay run --stage`: the report after a stage, and its acceptance by the study's rule or the user."""
