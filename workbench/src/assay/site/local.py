"""This machine, and no other."""

from collections.abc import Callable, Mapping

from assay.model.base import EXIT_REFUSED, AssayError, Say
from assay.model.site.host import THIS_HOST
from assay.site.site import Standing


class LocalSite:
    """This machine generates the load."""

    more = "add a line such as `hosts: client[1-8]`"

    @property
    def files(self) -> Mapping[str, Callable[[], bytes]]:
        """None are needed."""
        return {}

    def check(self, needed: int) -> None:
        """See `Site`: there is one host."""
        if needed > 1:
            raise AssayError(f"the study needs {needed} hosts, but names none", self.more, EXIT_REFUSED)

    def up(self, _say: Say) -> Standing:
        """See `Site`; nothing is made."""
        return Standing((THIS_HOST,), here=True)

    def down(self, say: Say) -> None:
        """Nothing was made."""
