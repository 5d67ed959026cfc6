"""`assay fit` and `assay find`: is a place fast enough for an application, and up to which rate is it?"""
