"""Kinds of target, one folder each; no code outside this package depends on the kind of a target.

Each folder has the files below, and more where needed. `assay.model.study.target` defines what other packages may know
of a target, `assay.kinds.handler` what a run does with one. To add a kind, add a folder: it is found by its name.

    study.py        its section in a study file, and the facts that other packages may use
    job.py          the target as it stands in an engine's job
    estimate.py     its assumed speed, until it is measured
    handler.py      how a run inspects, locks, claims, probes and cleans it
    uri.py          how it is typed in one word on the command line
"""
