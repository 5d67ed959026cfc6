"""Debian packages: Assay and the Python packages it needs in /opt/assay, and what is typed in /usr/bin.

Debian 12 has several of these packages only in versions that are too old, so the package carries them, as the lock
file names them, by hash. Compiled ones are for one version of Python: there is a package for each release of Debian.
No debhelper: the package has no daemon, no configuration and no library, so a tree and dpkg-deb are all it needs.
"""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

from engines import ROOT, Machine
from wheel import DIST

RELEASES = {"12": "3.11", "13": "3.13"}
"""Debian -> its Python."""
ENVIRONMENT = "home = /usr/bin\ninclude-system-site-packages = false\nversion = {python}\n"
"""Makes /opt/assay a virtual environment, in which processes that Assay starts find its packages, too."""
GLIBC = ("2_17", "2_26", "2_27", "2_28", "2_31", "2_34", "2_35", "2_36")
"""Debian 12 has 2.36; pip takes just those that are named."""
LAUNCHER = """#!/opt/assay/bin/python3
import sys
from {module} import {function}
sys.exit({function}())
"""
PROGRAMS = {"assay": ("assay.cli.main", "main"), "assay-engine": ("assay.launch.binary", "become_engine")}
CONTROL = """Package: assay
Version: {version}
Section: utils
Priority: optional
Architecture: {machine}
Depends: python3 (>= {python}), python3 (<< {next})
Recommends: iproute2
Installed-Size: {size}
Maintainer: Assay's authors <assay@localhost>
Homepage: https://github.com/assay-storage/assay
Description: measures, prices and compares storage
 Assay measures storage, says what each number is worth and which limit it
 comes closest to, prices the options, and writes the report.
"""
COMPILE = "#!/bin/sh\nset -e\n/usr/bin/python3 -I -m compileall -q /opt/assay/lib >/dev/null || true\n"
CLEAN = "#!/bin/sh\nset -e\nfind /opt/assay/lib -name __pycache__ -prune -exec rm -rf {} +\n"
"""What was compiled when it was installed is in no list of the package."""


def build(machine: Machine, wheel: Path, debian: str) -> Path:
    """A package for one release of Debian.

    Args:
        machine: The architecture.
        wheel: Of that architecture.
        debian: The release, of `RELEASES`.
    """
    version = wheel.name.split("-")[1]
    package = DIST / f"assay_{version}~deb{debian}_{machine.debian}.deb"
    tree = ROOT / "target" / "dist-build" / package.stem
    shutil.rmtree(tree, ignore_errors=True)
    _fill(tree, machine, wheel, RELEASES[debian])
    major, minor = RELEASES[debian].split(".")
    facts = {
        "version": f"{version}~deb{debian}",
        "machine": machine.debian,
        "python": RELEASES[debian],
        "next": f"{major}.{int(minor) + 1}",
        "size": sum(file.stat().st_size for file in tree.rglob("*") if file.is_file()) // 1024,
    }
    control = tree / "DEBIAN"
    control.mkdir()
    (control / "control").write_text(CONTROL.format(**facts))
    for name, text in (("postinst", COMPILE), ("prerm", CLEAN)):
        (control / name).write_text(text)
        (control / name).chmod(0o755)
    words = ["dpkg-deb", "--root-owner-group", "-Zzstd", "--build", str(tree), str(package)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)
    return package


def _fill(tree: Path, machine: Machine, wheel: Path, python: str) -> None:
    environment = tree / "opt" / "assay"
    library = environment / "lib" / f"python{python}" / "site-packages"
    library.mkdir(parents=True)
    (environment / "bin").mkdir()
    (environment / "bin" / "python3").symlink_to("/usr/bin/python3")
    (environment / "pyvenv.cfg").write_text(ENVIRONMENT.format(python=python))
    platforms = [word for glibc in GLIBC for word in ("--platform", f"manylinux_{glibc}_{machine.name}")]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    into = ["--target", str(library), "--only-binary", ":all:", "--python-version", python, *platforms]
    lock = ["--require-hashes", "-r", str(ROOT / "workbench" / "requirements.lock")]
    subprocess.run([*pip, *into, "--no-deps", *lock], check=True)
    subprocess.run([*pip, *into, "--no-deps", str(wheel)], check=True)
    shutil.rmtree(library / "bin", ignore_errors=True)
    programs = tree / "usr" / "bin"
    programs.mkdir(parents=True)
    for name, (module, function) in PROGRAMS.items():
        (programs / name).write_text(LAUNCHER.format(module=module, function=function))
        (programs / name).chmod(0o755)
    _add_help(tree / "usr" / "share")
    notes = tree / "usr" / "share" / "doc" / "assay"
    notes.mkdir(parents=True)
    shutil.copyfile(ROOT / "LICENSE", notes / "copyright")
    shutil.copyfile(ROOT / "docs" / "reference" / "licences.md", notes / "licences.md")
    for path in tree.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


COMPLETIONS = {
    "bash": "bash-completion/completions/assay",
    "zsh": "zsh/vendor-completions/_assay",
    "fish": "fish/vendor_completions.d/assay.fish",
}
"""Shell -> where Debian looks for what completes a command."""


def _add_help(share: Path) -> None:
    """Manual pages, and what completes commands in each shell: both are made by the program itself."""
    pages = share / "man" / "man1"
    subprocess.run([sys.executable, str(ROOT / "tools" / "manpages.py"), str(pages)], check=True)
    for page in pages.iterdir():
        page.with_name(f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), mtime=0))
        page.unlink()
    for shell, place in COMPLETIONS.items():
        words = [sys.executable, "-m", "assay", "completion", shell]
        text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        (share / place).parent.mkdir(parents=True)
        (share / place).write_text(text)
