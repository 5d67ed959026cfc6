"""Where jobs of fio work, as targets."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from assay.rooms.foreign.work.fio.engines import FioEngine
from assay.rooms.foreign.work.fio.jobs import FioJob
from assay.rooms.foreign.work.line import directory_path

_FOLDER = "assay-fio"
_NO_DEVICES = ("/dev/shm/", "/dev/null", "/dev/zero", "/dev/mqueue/", "/dev/hugepages/")
_AWS = re.compile(r"(?:(?P<bucket>[a-z0-9.-]+)\.)?s3[.-](?P<region>[a-z0-9-]+)\.amazonaws\.com")

_NFS = re.compile(r"nfs://(?P<server>[A-Za-z0-9._:\[\]-]+)(?P<export>/[^?/][^?]*)(\?(?P<query>.*))?")


class Place(NamedTuple):
    """Where a job works.

    Attributes:
        kind: Kind of the target.
        folders: Directories of its files, or the device; of several, its processes take turns among them.
        files: Number of files that it names; 0 if it names none.
        is_shared: All its processes work on the same file.
        names: The files that it names.
        fields: Further fields of the target.
        is_device: It is a block device.
        is_folder: It is a directory, or several.
    """

    kind: str
    folders: tuple[str, ...] = ()
    files: int = 0
    is_shared: bool = False
    names: tuple[str, ...] = ()
    fields: tuple[tuple[str, Any], ...] = ()
    is_device: bool = False
    is_folder: bool = False

    @property
    def named(self) -> set[tuple[str, str]]:
        """The files that it names, as folder and name; none for a device or for files that fio names."""
        return {(folder, name) for folder in self.folders for name in self.names if self.is_folder}


def place_of(job: FioJob, engine: FioEngine) -> Place:
    """Return where a job works.

    Raises:
        AssayError: There is no such target.
    """
    if engine.place == "nothing":
        return Place("null")
    if engine.place == "export":
        return _nfs(job)
    if engine.place == "objects":
        return _s3(job)
    written = job.text("filename") or (job.name if job.name.startswith("/dev/") else "")
    names = tuple(part.replace("\\:", ":") for part in re.split(r"(?<!\\):", written) if part.strip())
    if any(name == "-" or name.startswith("\\\\") for name in names):
        raise job.error("filename", "neither pipes nor devices of Windows are measured", "name a file or block device")
    devices = [name for name in names if name.startswith("/dev/") and not name.startswith(_NO_DEVICES)]
    if devices:
        if len(names) > 1:
            raise job.error("filename", "a target is one device", "write a job for each, with stonewall")
        return Place("device", (names[0],), 1, True, names, is_device=True)
    return _files(job, names)


def _files(job: FioJob, names: tuple[str, ...]) -> Place:
    bases = [part.replace("\\:", ":") for part in re.split(r"(?<!\\):", job.text("directory")) if part.strip()] or [""]
    inner = {name.rpartition("/")[0] or ("/" if name.startswith("/") else "") for name in names}
    if len(inner) > 1:
        raise job.error("filename", "the files of a lane are in one directory", "write a job for each directory")
    if names and len(bases) > 1:
        raise job.error("directory", "several directories with a filename", "leave out the filename")
    folder = next(iter(inner), "")
    folders = tuple(directory_path(str(Path(base) / folder), _FOLDER, "fio directory") for base in bases)
    is_shared = bool(names) or "$jobnum" not in job.text("filename_format", "$jobnum")
    return Place("file", folders, len(names), is_shared, names, is_folder=True)


def _nfs(job: FioJob) -> Place:
    found = _NFS.fullmatch(job.text("nfs_url").strip())
    if found is None:
        raise job.error("nfs_url", "this is no URL of an export", "write nfs_url=nfs://SERVER/EXPORT")
    ids = [(name, int(number)) for name, number in re.findall(r"(uid|gid)=([0-9]{1,9})(?=&|$)", found["query"] or "")]
    names = tuple(filter(None, job.text("filename").split(":")))
    fields = (("servers", [found["server"]]), ("export", found["export"].rstrip("/")), *ids)
    return Place("nfs", (), len(names), bool(names), names, fields)


def _s3(job: FioJob) -> Place:
    if job.text("http_mode", "webdav") != "s3":
        raise job.error("http_mode", "there are targets for S3 only, not for WebDAV and Swift", "write http_mode=s3")
    host, secure = job.text("http_host", "localhost"), job.text("https", "off")
    key = job.text("filename").strip("/")
    found = _AWS.fullmatch(host)
    bucket, region = key.partition("/")[0], job.text("http_s3_region", "us-east-1")
    fields: list[tuple[str, Any]] = []
    if found is None:
        fields.append(("endpoint", f"{'http' if secure == 'off' else 'https'}://{host}"))
    elif found["bucket"]:
        bucket = found["bucket"]
    if not bucket:
        raise job.error("filename", "no bucket is named", "write filename=/BUCKET/KEY")
    fields += [("bucket", bucket), ("region", region)]
    if job.text("http_s3_storage_class"):
        fields.append(("storage_class", job.text("http_s3_storage_class")))
    return Place("s3", fields=tuple(fields))
