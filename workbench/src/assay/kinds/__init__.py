"""Kinds of target, one folder each; nothing outside of this package asks of which kind a target is.

All have the same files, and further ones where there is more to say. What the rest wants to know of a target is in
`assay.model.study.target`, what a run does with one in `assay.kinds.place`. To add a kind, add a folder: it is found by
its name.

    study.py        what is written in a study file, and the facts that everybody may ask for
    job.py          the target as an engine is told of it
    estimate.py     what it is assumed to do until it is measured
    place.py        how a run looks at it, takes it, tries it out and gives it back
"""
