"""How much a job of fio reads or writes of how large files. Source: fio 3.42, filesetup.c, `setup_files`."""

from typing import NamedTuple

from assay.launch.devices import device_bytes
from assay.model.units import format_size
from assay.rooms.foreign.work.fio.jobs import FioJob
from assay.rooms.foreign.work.fio.place import Place
from assay.rooms.foreign.work.fio.values import percent_of, size_of
from assay.rooms.foreign.work.notes import Notes

_MAX_PHASES = 30


class FioAmount(NamedTuple):
    """How much a job does.

    Attributes:
        file_size: Bytes of each file, or of the part of the device.
        files: Number of files.
        passes: How often it goes over them.
        sizes: Sizes of the files, if they differ; else empty.
    """

    file_size: int
    files: int
    passes: int
    sizes: str = ""

    @property
    def total(self) -> int:
        """Bytes of all files."""
        return self.file_size * self.files


def amount_of(job: FioJob, place: Place, record: int, is_random: bool, notes: Notes) -> FioAmount:
    """Return how much a job does.

    Raises:
        AssayError: It does not say how much, or a part of its files that has no counterpart.
    """
    found = _files(job, place, notes)
    if found.file_size < record:
        raise job.error("bs", f"larger than the {found.file_size} bytes of a file", "write a smaller one")
    if job.is_timed:
        return found
    bytes_asked = _bytes(job, found, record)
    done, all_records = bytes_asked // record, max(1, found.file_size // record) * found.files
    passes = job.number("loops", 1) or 1
    name = next((name for name in ("number_ios", "io_size", "size") if name in job.values), "size")
    if not done:
        raise job.error(name, f"less than one block of {record} bytes", "write more, or a smaller bs")
    if done < all_records:
        if is_random or found.files > 1 or passes > 1:
            why = f"{done} blocks of {all_records}: a part of the blocks at random has no counterpart"
            raise job.error(name, why, "write time_based with a runtime, or io_size of the whole size")
        notes.add(job.values[name].written, "only the part of the file that is used is there")
        return found._replace(file_size=done * record)
    if done % all_records:
        raise job.error(name, "not a whole number of passes over the files", "write a multiple of size, or a runtime")
    passes *= done // all_records
    if passes > _MAX_PHASES:
        name = "loops" if "loops" in job.values else name
        raise job.error(name, f"{passes} passes: a workload has {_MAX_PHASES} phases", "write time_based and a runtime")
    return found._replace(passes=passes)


def _files(job: FioJob, place: Place, notes: Notes) -> FioAmount:
    files = place.files or job.number("nrfiles", 1, 1)
    sizes = job.text("filesize").replace("-", ":").split(":")
    if len(sizes) == 2 and sizes[0] != sizes[1]:
        return _range(job, sizes, files)
    size, percent = size_of(job.text("size"), job.kb_base), percent_of(job.text("size"))
    each = size_of(sizes[0], job.kb_base) if sizes[0] else None
    if each:
        return FioAmount(each, files, 1)
    if size:
        return FioAmount(size // files, files, 1)
    if not place.is_device:
        why = "the size of files is not known" if percent is None else "a share of files that are there is not known"
        raise job.error("size", why, "write one, such as size=10g")
    whole = device_bytes(place.folders[0])
    if not whole:
        why = f"the size of {place.folders[0]} is not known on this machine"
        raise job.error("size", why, "write one, such as size=100g")
    notes.add(f"size of {place.folders[0]}", f"{format_size(whole)} on this machine")
    return FioAmount(whole * (percent or 100) // 100, 1, 1)


def _range(job: FioJob, texts: list[str], files: int) -> FioAmount:
    low, high = (size_of(text, job.kb_base) for text in texts)
    if not low or not high or high < low:
        raise job.error("filesize", "this is not a range of sizes", "write filesize=4k-1m")
    if files < 2:
        raise job.error("filesize", "one file of a random size", "write one size, or nrfiles")
    return FioAmount(low, files, 1, f"uniform {format_size(low)}..{format_size(high)}")


def _bytes(job: FioJob, found: FioAmount, record: int) -> int:
    """Return the bytes that one loop of a job moves."""
    share = percent_of(job.text("io_size"))
    asked = found.total * share // 100 if share else job.size("io_size")
    if not asked:
        asked = size_of(job.text("size"), job.kb_base) or found.total
        asked = min(asked, found.total) if "filesize" in job.values else found.total
    operations = job.number("number_ios", 0)
    return min(asked, operations * record) if operations else asked
