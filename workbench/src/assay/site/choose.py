"""Chooses the site of a study. This is the only place that lists the kinds of site."""

from pathlib import Path

from assay.model.room import hook
from assay.model.study.study import Study
from assay.site.local import LocalSite
from assay.site.site import Site


def site_of(study: Study, base: Path, is_run_folder: bool = False) -> Site:
    """Return the site that a study names.

    Args:
        study: The study.
        base: Folder that relative names start from: that of the study file, or of a run.
        is_run_folder: `base` is the folder of a run, with copies of the files that the study names.
    """
    if study.testbed is not None:
        testbed: Site = hook("testbed_site")(study.testbed, study.hosts, base, is_run_folder, study.targets)
        return testbed
    if study.hosts.is_allocated:
        from assay.site.allocation import AllocationSite

        return AllocationSite(left_out=study.hosts.excluded_hosts)
    if study.is_local:
        return LocalSite(study.targets)
    from assay.site.inventory.site import InventorySite

    return InventorySite(study.hosts, base, is_run_folder)
