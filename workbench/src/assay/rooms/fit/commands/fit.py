"""`assay fit`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.cli.changes import ON_ROOT
from assay.model.base import EXIT_INTERRUPTED, EXIT_OK, AssayError, Code
from assay.terminal.output import note, print_json, print_line
from assay.terminal.settings import RUNS

if TYPE_CHECKING:
    from assay.rooms.fit.commands.runner import Runner
    from assay.rooms.fit.model.profile import Profile, Requirement
    from assay.rooms.fit.work.first_look import FirstLook
    from assay.rooms.fit.work.place import FitPlace
    from assay.rooms.fit.work.study import DataAmount
    from assay.store import RunStore


def command(
    profile: str = typer.Argument("", metavar="PROFILE", help="Application, or a file; without it all are listed."),
    place: str = typer.Argument("", metavar="PLACE", help="Directory, device, export, share or bucket."),
    accelerators: int = typer.Option(1, "--accelerators", min=1, max=100_000, help="Accelerators to keep busy."),
    out: Path = RUNS,
    destroy: bool = typer.Option(False, "--destroy", help="Devices may be overwritten, buckets written to."),
    on_root: bool = typer.Option(False, "--yes-on-root", help=ON_ROOT),
    as_json: bool = typer.Option(False, "--json", help="Print the answer as JSON."),
) -> None:
    """Say whether a place is fast enough for an application: yes, no or undecided.

    A profile names what the application needs, the public source of that, and the work that shows it. The work takes
    half a minute and is an ordinary run: `assay show last`. Exit codes: 0 yes, 1 no, 3 undecided.

    Example: `assay fit`, `assay fit etcd /var/lib/etcd`, `assay fit ml-training /mnt/data --accelerators 4`
    """
    from assay.rooms.fit.commands.runner import Runner
    from assay.rooms.fit.work.place import find_place
    from assay.rooms.fit.work.profiles import find_profile
    from assay.rooms.fit.work.study import requirements_of

    if not profile:
        _print_profiles(as_json)
        raise typer.Exit(EXIT_OK)
    found = find_profile(profile)
    if not place:
        _print_profile(found)
        raise typer.Exit(EXIT_OK)
    where = find_place(place, destroy)
    needs = requirements_of(found, where)
    if accelerators > 1 and all(need.measure != "busy" for need in needs):
        raise AssayError(f"--accelerators: {found.profile} emulates none", "leave it out")
    try:
        code = _answer(found, where, needs, accelerators, Runner(out, destroy, on_root), as_json)
    except KeyboardInterrupt:
        note("stopped: nothing was measured, and the test data is removed")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    raise typer.Exit(code)


def _print_profiles(as_json: bool) -> None:
    from assay.rooms.fit.work.profiles import profile_names, shipped_profile

    found = [shipped_profile(name) for name in profile_names()]
    if as_json:
        print_json([each.model_dump() for each in found])
        return
    width = max(len(each.profile) for each in found)
    for each in found:
        print_line(f"{each.profile.ljust(width)}  {each.about}")
    note("assay fit PROFILE shows what it requires; assay fit PROFILE PLACE measures")


def _print_profile(profile: "Profile") -> None:
    from assay.rooms.fit.commands.text import ground_lines, need_text

    print_line(f"{profile.profile}: {profile.question}")
    for need in profile.requires:
        print_line(f"  requires: {need_text(need)}")
    for line in ground_lines(profile, ""):
        print_line(f"  {line}")


def _answer(
    profile: "Profile",
    place: "FitPlace",
    needs: "list[Requirement]",
    accelerators: int,
    runner: "Runner",
    as_json: bool,
) -> int:
    """Measure, print the answer, and return the exit code."""
    from assay.rooms.fit.commands.text import answer_json, answer_lines, ground_lines, memory_lines
    from assay.rooms.fit.work.answer import fit_answer
    from assay.rooms.fit.work.place import refuse_existing
    from assay.rooms.fit.work.study import choose_amount
    from assay.run.analysis import analyse_store

    refuse_existing(place)
    look = runner.look(place, profile.data is not None)
    amount = choose_amount(profile, place, look.bytes_per_s, look.free_bytes)
    if amount.words:
        note(amount.words)
    with _measure(profile, place, needs, amount, look, runner) as store:
        if store.current_status() == "interrupted":
            note(f"stopped: no answer; start it again: assay fit {profile.profile} {place.written}")
            return EXIT_INTERRUPTED
        found = fit_answer(profile, needs, analyse_store(store), store, accelerators)
        if as_json:
            print_json(answer_json(found, place.written, store, amount.words))
        else:
            lines = (*answer_lines(found, place.written), *ground_lines(profile, amount.words))
            for line in (*lines, *memory_lines(store.info().places)):
                print_line(line)
        note(f"results: {store.folder}; details: assay show {store.folder}")
    return found.answer.exit_code


def _measure(
    profile: "Profile",
    place: "FitPlace",
    needs: "list[Requirement]",
    amount: "DataAmount",
    look: "FirstLook",
    runner: "Runner",
) -> "RunStore":
    """Measure the profile's work; where the place has no O_DIRECT, the page cache is emptied instead."""
    from assay.rooms.fit.work.study import fallback_cache, fit_study, fit_text

    words = ["assay", "fit", profile.profile, place.written]
    work = profile.work(place.work) or {}
    caches = ["", fallback_cache(work)] if work.get("cache") == "direct" else [""]
    for cache in caches[0 if look.is_direct else len(caches) - 1 :]:
        text = fit_text(fit_study(profile, place, needs, amount, cache), words)
        try:
            return runner.run_stored(text)
        except AssayError as error:
            if error.code is not Code.NO_DIRECT_IO or cache == caches[-1]:
                raise
            note(f"{error.message}: the page cache is emptied instead")
    raise AssayError("the page cache can be neither bypassed nor emptied here", "`assay doctor` says more")
