"""Profiles that come with Assay, and those of users."""

import functools
from pathlib import Path

from assay.model.base import EXIT_USAGE, AssayError
from assay.model.units import choices_hint
from assay.model.user_files import read_user_file
from assay.model.user_text import MAX_FILE_BYTES
from assay.model.yaml_files import read_model
from assay.plan.load import load_study
from assay.rooms.fit.model.profile import GUIDE, Profile
from assay.rooms.fit.work.place import place_of_target
from assay.rooms.fit.work.study import DataAmount, fit_study, fit_text

PROFILES = Path(__file__).parent.parent / "profiles"
LABEL = "profile"
_DIRECTORY = place_of_target("/x", "x", {"kind": "file", "path": "/x/assay-measure"})
_BUCKET = place_of_target("s3://bucket", "bucket", {"kind": "s3", "bucket": "bucket"})


@functools.cache
def profile_names() -> tuple[str, ...]:
    """Return the names of the profiles that come with Assay, sorted."""
    return tuple(sorted(path.stem for path in PROFILES.glob("*.yaml")))


def shipped_profile(name: str) -> Profile:
    """Return a profile that comes with Assay."""
    path = PROFILES / f"{name}.yaml"
    return read_model(Profile, path.read_bytes(), str(path), GUIDE, LABEL, is_shipped=True)


def find_profile(written: str) -> Profile:
    """Return the profile that a user names: a shipped one, or a file, whose path has a slash or ends in .yaml.

    Raises:
        AssayError: There is none, or the file is wrong; the message names its line.
    """
    if "/" in written or written.endswith((".yaml", ".yml")):
        data = read_user_file(written, written, "give a profile or its file", MAX_FILE_BYTES)
        profile = read_model(Profile, data, written, GUIDE, LABEL)
        _check_work(profile, written)
        return profile
    if written not in profile_names():
        hint = f"{choices_hint(written, profile_names())}; your own: a file, such as ./app.yaml ({GUIDE})"
        raise AssayError(f"there is no profile `{written}`", hint, EXIT_USAGE)
    return shipped_profile(written)


def _check_work(profile: Profile, file: str) -> None:
    """Check the fields of a user's work, as a study at made-up places.

    Raises:
        AssayError: They make no study.
    """
    for name, place in (("files", _DIRECTORY), ("objects", _BUCKET)):
        if profile.work(place.work) is not None:
            text = fit_text(fit_study(profile, place, [], DataAmount({}, "")), [])
            problems = load_study(text.encode(), "/").problems
            if problems:
                raise AssayError(f"{file}: {name}: {problems[0].message}", problems[0].hint)
