"""Groups of operations that only tests need."""

from assay.model.study.names import DATA

ON_ONE_FILE = tuple(name for name in DATA if name != "file_mix")
"""On the data of one file or device; a mix of files needs a set of them."""
