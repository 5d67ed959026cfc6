"""Every option of iozone, and how a study expresses it or why it does not.

Source: iozone 3.506, iozone.c (`show_help`, the getopt loop of `main`) and its manual page.
"""

from typing import Literal, NamedTuple

Treatment = Literal["mapped", "free", "noted", "refused"]
"""What becomes of an option, as of fio's: it sets a field; it is no part of the work; it is left out and noted; it is
refused, as the work would be another without it."""


class IozoneOption(NamedTuple):
    """An option of iozone.

    Attributes:
        takes_value: It takes a value.
        treatment: What becomes of it.
        text: The field that it sets, or why it is left out or refused.
    """

    takes_value: bool
    treatment: Treatment
    text: str


_RATES = "rates and latencies are always measured: assay export"
_LOCKS = "files and records are not locked"
_FRAME = "for distributed runs name hosts, as -+m does"
_ROWS: tuple[tuple[str, bool, Treatment, str], ...] = (
    ("a A", False, "mapped", "`file_size` and `record_size`, a range of each"),
    ("z", False, "mapped", "small records of large files, too"),
    ("s r n g y q", True, "mapped", "`file_size` and `record_size`"),
    ("+x", True, "mapped", "the factor of the ranges"),
    ("i", True, "mapped", "`operations`"),
    ("+n", False, "mapped", "no rewrite and no reread"),
    ("E", False, "mapped", "pread and pwrite: those of `method: sync` always are"),
    ("t l u", True, "mapped", "`lanes`"),
    ("+k", False, "mapped", "`total_size`"),
    ("f F", True, "mapped", "the `path` of the target, and its `shares`"),
    ("I", False, "mapped", "`cache: direct`"),
    ("e", False, "mapped", "`sync: fsync`"),
    ("o +r", False, "mapped", "`sync: o_sync`"),
    ("+D", False, "mapped", "`sync: o_dsync`"),
    ("B D G", False, "mapped", "`method: mmap`"),
    ("H k", True, "mapped", "`method: threads` and `queue_depth`"),
    ("j", True, "mapped", "`stride`"),
    ("P", True, "mapped", "`cpus`"),
    ("V", True, "mapped", "`verify`"),
    ("+d", False, "mapped", "`verify`"),
    ("w", False, "mapped", "`output: {keep_files: true}`"),
    ("+p", True, "mapped", "`read_percent` of the mix"),
    ("+B", False, "mapped", "`sequential_mix` instead of `random_mix`"),
    ("+w", True, "mapped", "`duplicate`"),
    ("+O", True, "mapped", "`rate`, of all lanes together"),
    ("+m", True, "mapped", "`hosts`"),
    ("R C O N Q", False, "free", _RATES),
    ("b", True, "free", "assay export --format xlsx"),
    ("+u +z +T +s", False, "free", _RATES),
    ("M", False, "free", "the machine is described in each run"),
    ("S L", True, "free", "buffers are aligned for the engine"),
    ("m", False, "free", "each operation in flight has a buffer"),
    ("T", False, "free", "lanes are threads"),
    ("+S +W", True, "free", "data is a function of seed, file and offset"),
    ("+H +P", True, "free", "the host's own clock"),
    ("+a", True, "free", "iozone ignores it"),
    ("c", False, "noted", "closing is measured with the phase anyway"),
    ("d +q", True, "noted", "phases follow each other, and lanes begin together"),
    ("p", False, "noted", "the caches of CPUs are left alone"),
    ("W +l", False, "noted", _LOCKS),
    ("x", False, "noted", "each lane does all of its work: no lane is stopped when the first is ready"),
    (
        "U",
        True,
        "noted",
        "cache: drop, in place of a new mount before each test; a mount of the study's own has remount",
    ),
    ("+A", True, "noted", "no advice is given to the kernel"),
    ("+y +C", True, "noted", "copies are of a few blocks: duplicate"),
    ("+N +F", False, "noted", "write makes a file anew; rewrite goes over an existing one"),
    ("+Z +X", False, "noted", "data is new with each write"),
    ("+i +h", True, "noted", _FRAME),
    ("+U", False, "noted", "an option for Windows"),
    ("J", True, "refused", "lanes do not compute: -+O N states a rate"),
    ("+J", False, "refused", "lanes do not compute: -+O N states a rate"),
    ("+b", True, "refused", "lanes do not pause: -+O N states a rate"),
    ("K", False, "refused", "records come in sequence or at random, not disturbed"),
    ("X Y", True, "refused", "sequences of operations in files are not replayed"),
    ("Z", False, "refused", "one file is not worked on by mappings and calls at once"),
    ("+E", False, "refused", "files that are there already are not read: Assay makes its own"),
    ("+K", True, "refused", "lanes of a mix each read and write"),
    ("+L +V", False, "refused", "parts of a file that several processes work on have no counterpart"),
    ("+c", True, "refused", "waits for work of another iozone: convert the command of the controlling one"),
    ("+t", False, "refused", "assay preflight measures links"),
    ("h v", False, "refused", "prints help or a version, and does no work"),
)
OPTIONS: dict[str, IozoneOption] = {
    letter: IozoneOption(takes_value, treatment, text)
    for letters, takes_value, treatment, text in _ROWS
    for letter in letters.split()
}
"""Letter, with a + before those after -+, -> option."""
