"""The engines of fio, and the target and method that each becomes or why it becomes none.

Source: fio 3.42, engines/*.c and HOWTO, "I/O engine".
"""

from typing import NamedTuple


class FioEngine(NamedTuple):
    """An engine of fio.

    Attributes:
        place: What it works on: `path`, a file or device; `names`, `export`, `objects`, or `nothing`, memory alone;
            empty if there is no counterpart.
        method: The `method` of the workload; empty if it is left out.
        is_async: It may have several operations in flight.
        operation: The operation that it does whatever `rw` says; empty if `rw` decides.
        text: What differs, or why there is no counterpart; may be empty.
    """

    place: str
    method: str = ""
    is_async: bool = False
    operation: str = ""
    text: str = ""


_SYNC = FioEngine("path", "sync")
_AIO = FioEngine("path", is_async=True, text="the engine's best method, io_uring where the kernel has it")


def _none(text: str) -> FioEngine:
    return FioEngine("", text=text)


_FABRIC = "assay preflight measures links"
_NO_GPU = _none("data does not go to the memory of GPUs")
_MOUNTED = "a mount of it is a target of kind file: take ioengine=libaio with a directory on a mount"
ENGINES: dict[str, FioEngine] = {
    "sync": _SYNC,
    "psync": _SYNC,
    "vsync": _SYNC._replace(text="adjacent operations are not joined"),
    "pvsync": _SYNC,
    "pvsync2": _SYNC,
    "libaio": _AIO,
    "solarisaio": _AIO,
    "windowsaio": _AIO,
    "io_uring": FioEngine("path", "io_uring", is_async=True),
    "posixaio": FioEngine("path", "threads", is_async=True),
    "mmap": FioEngine("path", "mmap"),
    "null": FioEngine("nothing", is_async=True, text="the engine itself is measured, without storage"),
    "nfs": FioEngine("export", is_async=True),
    "http": FioEngine("objects", text="each block is an object"),
    "filecreate": FioEngine("names", operation="create"),
    "filestat": FioEngine("names", operation="stat"),
    "filedelete": FioEngine("names", operation="unlink"),
    "dircreate": FioEngine("names", operation="mkdir"),
    "dirdelete": FioEngine("names", operation="rmdir"),
    "dirstat": _none("stat of directories is not measured; filestat has a counterpart"),
    "splice": _none("data is not moved by splice: take ioengine=psync"),
    "sg": _none("reads and writes are the kernel's, not SCSI commands: take ioengine=libaio with the block device"),
    "libzbc": _none("zones are not measured"),
    "io_uring_cmd": _none("NVMe commands are not measured: take ioengine=io_uring with the block device"),
    "xnvme": _none("NVMe commands are not measured: take ioengine=io_uring with the block device"),
    "libblkio": _none("devices are reached by the kernel: take ioengine=io_uring with the block device"),
    "falloc": _none("fallocate is not measured"),
    "ftruncate": _none("ftruncate is not measured"),
    "e4defrag": _none("defragmentation is not measured"),
    "cpuio": _none("a load of the CPU is not a load of storage"),
    "exec": _none("Assay starts no other programs"),
    "page_fault": _none("faults of memory are not measured; ioengine=mmap has a counterpart"),
    "net": _none(_FABRIC),
    "netsplice": _none(_FABRIC),
    "rdma": _none(_FABRIC),
    "rbd": _none("there is no target for images of RBD: map it (rbd map), and take ioengine=libaio with the device"),
    "rados": _none("there is no target for RADOS; its S3 gateway is a target of kind s3"),
    "gfapi": _none(_MOUNTED),
    "gfapi_async": _none(_MOUNTED),
    "libhdfs": _none("HDFS is not measured"),
    "ime_psync": _none(_MOUNTED),
    "ime_psyncv": _none(_MOUNTED),
    "ime_aio": _none(_MOUNTED),
    "dfs": _none(_MOUNTED),
    "dev-dax": _none("character devices of persistent memory are not measured; ioengine=mmap with a file is"),
    "libpmem": _none("persistent memory is not written past the kernel: take ioengine=mmap"),
    "mtd": _none("flash without a block device is not measured"),
    "nbd": _none("connect it (nbd-client), and take ioengine=libaio with the device"),
    "libiscsi": _none("log in (iscsiadm), and take ioengine=libaio with the device"),
    "libcufile": _NO_GPU,
    "libhipfile": _NO_GPU,
    "external": _none("engines of others are not known"),
}
"""Name of an engine -> what becomes of it."""
DEFAULT_ENGINE = "psync"
"""fio's own on Linux."""
