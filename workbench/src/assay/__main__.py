"""`python -m assay`."""

import sys

if not sys.flags.safe_path:
    # The working directory: what else is imported is not looked for there.
    del sys.path[0]

from assay.cli.main import main

sys.exit(main())
