"""The site of a study. A further kind of site is added here, and nowhere else."""

from pathlib import Path

from assay.model.study.study import Study
from assay.site.local import LocalSite
from assay.site.site import Site


def site_of(study: Study, base: Path, kept: bool = False) -> Site:
    """The site that a study names.

    Args:
        study: The study.
        base: Folder where relative names start: that of the study file, or of a run.
        kept: It is that of a run, which has copies of the files that the study names.
    """
    if study.testbed is not None:
        from assay.site.box.site import BoxSite

        return BoxSite(study.testbed, study.hosts, base, kept, study.targets)
    if study.hosts.allocated:
        from assay.site.allocation import AllocationSite

        return AllocationSite(left_out=study.hosts.left_out)
    if study.local:
        return LocalSite(study.targets)
    from assay.site.inventory.site import InventorySite

    return InventorySite(study.hosts, base, kept)
