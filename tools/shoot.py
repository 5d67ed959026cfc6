"""Take a picture of an HTML page with Chromium: `python tools/shoot.py report.html report.png [width height]`."""

import subprocess
import sys
import tempfile
from pathlib import Path

CHROMIUM = "/usr/bin/chromium"


def shoot(page: Path, picture: Path, width: int = 1400, height: int = 1750) -> None:
    """Write the top `width` x `height` pixels of `page` to `picture`.

    Raises:
        RuntimeError: Chromium failed.
    """
    picture.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [
                CHROMIUM,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                f"--user-data-dir={profile}",
                f"--window-size={width},{height}",
                "--virtual-time-budget=20000",
                f"--screenshot={picture.resolve()}",
                page.resolve().as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
    if done.returncode != 0 or not picture.exists():
        raise RuntimeError(f"{CHROMIUM} took no picture of {page}: {done.stderr.strip()[-400:]}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    shoot(Path(sys.argv[1]), Path(sys.argv[2]), *(int(word) for word in sys.argv[3:]))
