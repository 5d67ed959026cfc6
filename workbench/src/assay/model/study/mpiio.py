"""Definitions of parameters for MPI-IO only: how its calls are made, and the hints for its library."""

from typing import Literal, get_args

from assay.model.study import axis
from assay.model.study.axis import ValueKind
from assay.model.study.parameter import Parameter

Pointer = Literal["explicit", "individual", "shared"]
View = Literal["none", "vector", "subarray"]
HintSwitch = Literal["enable", "disable", "automatic"]


def _hint(name: str, kind: ValueKind, about: str) -> Parameter:
    """Define an MPI-IO hint as a parameter; the library gets it when it opens a file.

    Args:
        name: Name of the hint in MPI-IO libraries.
        kind: Kind of its values; if left out, the library decides.
        about: What it requests.
    """
    return Parameter(
        kind=kind,
        about=f"MPI-IO: {about} Left out: the target's hints, or else the library, decide.",
        heading=f"Hint {name}; empty: none",
        unknown_text=f"whether the hint {name} was set",
        title=f"Hint {name}",
        report_row="setting",
        job=f"target.hints.{name}",
        only=("data",),
        through_mpi=True,
    )


_COUNT = axis.whole(1, 2**20, optional=True)
_SIZE = axis.size(1, 2**40, optional=True)
_WISH = axis.choice(get_args(HintSwitch), optional=True)

COLLECTIVE = Parameter(
    kind=axis.flag(),
    about="MPI-IO: each operation is one of all ranks together (MPI_File_write_at_all and its kin; IOR -c). With "
    "layout: shared all ranks start equally many.",
    heading="Operations were collective",
    unknown_text="whether operations were collective",
    report_row="setting",
    job="target.collective",
    only=("data",),
    through_mpi=True,
)
POINTER = Parameter(
    kind=axis.choice(get_args(Pointer)),
    about="MPI-IO: explicit: each operation states its offset (MPI_File_write_at); individual: by the individual file "
    "pointer, which is moved only if it is elsewhere (MPI_File_write); shared: by the pointer that all "
    "ranks share (MPI_File_write_shared, with collective: true MPI_File_write_ordered).",
    heading="How operations got their offset",
    unknown_text="how operations got their offset",
    title="File pointer",
    report_row="setting",
    job="target.pointer",
    only=("data",),
    through_mpi=True,
)
VIEW = Parameter(
    kind=axis.choice(get_args(View)),
    about="MPI-IO: what a rank sees of the file that all share: all of it (none), or its own blocks of block_size "
    "(MPI_File_set_view) by MPI_Type_vector or MPI_Type_create_subarray. Records may then consist of several blocks, "
    "so that one operation is in many places.",
    heading="What a rank saw of the file",
    unknown_text="whether ranks had file views",
    title="File view",
    report_row="setting",
    job="target.view",
    only=("data",),
    through_mpi=True,
)
ATOMIC = Parameter(
    kind=axis.flag(),
    about="MPI-IO: files are in atomic mode (MPI_File_set_atomicity).",
    heading="Files were in atomic mode",
    unknown_text="whether files were in atomic mode",
    title="Atomic mode",
    report_row="setting",
    job="target.atomic",
    only=("data",),
    through_mpi=True,
)
CB_NODES = _hint("cb_nodes", _COUNT, "ranks that collect data in collective operations.")
CB_BUFFER_SIZE = _hint("cb_buffer_size", _SIZE, "bytes that each of these collects at once.")
ROMIO_CB_READ = _hint("romio_cb_read", _WISH, "whether ROMIO collects what collective operations read.")
ROMIO_CB_WRITE = _hint("romio_cb_write", _WISH, "whether ROMIO collects what collective operations write.")
ROMIO_DS_READ = _hint("romio_ds_read", _WISH, "whether ROMIO reads stretches to get parts of them (data sieving).")
ROMIO_DS_WRITE = _hint("romio_ds_write", _WISH, "whether ROMIO writes stretches to set parts of them.")
STRIPING_FACTOR = _hint("striping_factor", _COUNT, "devices over which the file system stripes a new file.")
STRIPING_UNIT = _hint("striping_unit", _SIZE, "bytes of a stripe of a new file.")
