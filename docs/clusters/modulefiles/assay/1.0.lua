-- Assay for Lmod: put it into a folder of MODULEPATH as assay/VERSION.lua.
-- Assay itself is a virtual environment in PREFIX/assay/VERSION; write your PREFIX here.
local prefix = os.getenv("ASSAY_PREFIX") or "/opt/apps"
local root = pathJoin(prefix, myModuleName(), myModuleVersion())

whatis("Name: Assay")
whatis("Version: " .. myModuleVersion())
whatis("Description: measures, prices and compares storage")
help([[Measures storage: assay doctor, assay run STUDY, assay report last.]])

conflict("assay")
prepend_path("PATH", pathJoin(root, "bin"))
-- Packages that other modules of Python put here are none of Assay's.
unsetenv("PYTHONPATH")
