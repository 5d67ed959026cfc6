"""Every option of fio's jobs, and how a study expresses it or why it does not.

Source: fio 3.42, options.c and engines/*.c. `docs/reference/fio-options.md` is generated from this table.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

Treatment = Literal["mapped", "free", "noted", "refused"]
"""What becomes of an option: it sets a field; it is no part of the work; it is left out and noted; it is refused, as
the work would be another without it."""


class FioOption(NamedTuple):
    """An option of fio's jobs.

    Attributes:
        name: Its name.
        treatment: What becomes of it.
        text: The field that it sets, or why it is left out or refused.
        neutral: Values that ask for nothing, with which it may always be left out.
    """

    name: str
    treatment: Treatment
    text: str
    neutral: tuple[str, ...] = ()


_Rows = tuple[tuple[str, str, str], ...]
"""Rows of names, separated by blanks; the text; neutral values, separated by blanks."""

_MAPPED: _Rows = (
    ("name", "the name of the workload", ""),
    ("description", "a comment of the job's own", ""),
    ("rw", "`operations`", ""),
    ("bs", "`record_size`", ""),
    ("bssplit bsrange", "`record_size`, if it is one size", ""),
    ("bs_is_seq_rand", "`record_size`: the first size of `bs` in sequence, the second at random", "0"),
    ("size filesize", "`file_size`", ""),
    ("io_size", "`file_size`, or as many phases as it has passes over the files", "0"),
    ("number_ios", "as `io_size`, in blocks", "0"),
    ("nrfiles", "`files`", "1"),
    ("filename directory", "the `path` of the target", ""),
    ("offset_increment", "`layout: shared`, if it is `size`", "0"),
    ("offset", "left out for files, refused for devices", "0"),
    ("iodepth", "`queue_depth`, for engines that do not wait for each operation", "1"),
    ("ioengine", "`method`, or the kind of the target: [engines](#engines)", ""),
    ("direct buffered", "`cache: direct`", ""),
    ("invalidate pre_read", "`cache: evict` or `keep`", ""),
    ("sync", "`sync: o_sync` or `o_dsync`", "0 none"),
    ("fsync fdatasync", "`sync: o_sync` or `o_dsync` with 1", "0"),
    ("end_fsync fsync_on_close end_syncfs", "`sync: fsync`", "0"),
    ("fallocate", "`preallocate`", ""),
    ("overwrite", "`rewrite` instead of `write`", "0"),
    ("loops", "as many phases", "1"),
    ("create_only", "the job is left out, since each workload makes its files itself", "0"),
    ("numjobs", "`lanes`", "1"),
    ("runtime time_based", "`runtime` with time_based, else `time_limit`", "0"),
    ("rate_iops rate", "`rate`, of all jobs together", "0"),
    ("rate_process", "`arrivals`", "linear"),
    ("rwmixread rwmixwrite", "`read_percent`", ""),
    ("verify do_verify", "`verify`, and a read after a write", ""),
    ("buffer_compress_percentage zero_buffers", "`compressible`", "0"),
    ("dedupe_percentage", "`duplicate`", "0"),
    ("cpus_allowed cpumask", "`cpus`", ""),
    ("numa_cpu_nodes numa_mem_policy", "`numa_node`", "default local"),
    ("mem", "`huge_pages` with mmaphuge and shmhuge", "malloc"),
    ("stonewall", "a workload of its own after the others", "0"),
    ("wait_for", "a workload after that of the job", ""),
    ("randseed", "`seed`", ""),
    ("percentage_random", "left out with 100, else refused", "100"),
    ("random_distribution", "left out with `random`, else refused", "random"),
    ("exec_prerun", "`cache: drop`, if it drops the caches", ""),
    ("kb_base", "how sizes are read", "1024"),
    ("blockalign", "left out if it is `bs`, else refused", ""),
    ("startdelay", "left out if all jobs that run together have the same", "0"),
    ("nfs_url", "`servers` and `export` of a target of kind nfs", ""),
    ("https http_host http_mode http_s3_region http_s3_storage_class", "fields of a target of kind s3", ""),
    ("sqthread_poll", "`sqpoll: true` with io_uring", "0"),
    ("hipri", "`iopoll: true` with io_uring and O_DIRECT", "0"),
)
_FREE: _Rows = (
    ("group_reporting new_group", "results of lanes are always added up", ""),
    (
        "per_job_logs write_bw_log write_lat_log write_iops_log write_hist_log log_entries log_avg_msec log_hist_msec "
        "log_hist_coarseness log_window_value log_offset log_prio log_issue_time log_compression log_compression_cpus "
        "log_store_compressed log_alternate_epoch log_alternate_epoch_clock_id block_error_percentiles bwavgtime "
        "iopsavgtime stats disk_util unified_rw_reporting unit_base significant_figures write_iolog",
        "counts, rates and latencies of each interval are always kept: `assay export`",
        "",
    ),
    (
        "clat_percentiles lat_percentiles slat_percentiles percentile_list gtod_reduce disable_lat disable_clat "
        "disable_slat disable_bw_measurement gtod_cpu clocksource",
        "latencies of all operations are always measured",
        "",
    ),
    ("thread", "lanes are threads", ""),
    ("create_serialize create_fsync allow_file_create allow_mounted_write comm", "how fio prepares", ""),
    ("openfiles", "a lane has one file of a set open at a time", ""),
    ("randrepeat random_generator softrandommap", "`seed` decides the order", ""),
    ("refill_buffers scramble_buffers buffer_compress_chunk", "data is new with each write", ""),
    (
        "verify_fatal verify_dump verify_state_save error_dump exitall_on_error",
        "errors are counted, and a repeat with errors is marked",
        "",
    ),
    ("verify_async verify_async_cpus verifysort verifysort_nr", "how fio checks what it reads", ""),
    (
        "verify_interval verify_offset verify_header_seed verify_write_sequence",
        "every byte is checked, without headers in the data",
        "",
    ),
    ("rwmixcycle rate_cycle rate_ignore_thinktime thinkcycles flow_watermark", "how fio spaces its work", ""),
    ("iomem_align libaio_vectored nonvectored userspace_reap registerfiles", "how the engine prepares calls", ""),
    ("unlink unlink_each_loop", "files are removed after each case", ""),
    ("percentage_sequential", "fio ignores it", ""),
    ("http_verbose", "messages", ""),
    (
        "threads block numruns dir test-duration threads-per-queue num-read-queues num-write-queues device-names load "
        "prep",
        "an option of a profile, without which fio ignores it",
        "",
    ),
)
_NOTED: _Rows = (
    ("ramp_time ramp_size", "results count as soon as all lanes are at work: no ramp is left out", "0"),
    ("unique_filename filename_format opendir", "Assay names its files itself", "1"),
    ("create_on_open", "files are made before the clock starts", "0"),
    ("file_service_type", "one file of a set after the other, each opened and closed", "sequential"),
    ("filetype lockfile", "files are not locked", "none readwrite"),
    ("fadvise_hint", "no advice is given to the kernel", "0 none 1"),
    ("norandommap", "each block comes once before any comes again", "0"),
    ("offset_align", "files are worked on from their beginning", "0"),
    (
        "iodepth_batch iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low",
        "operations are sent one by one, as soon as queue_depth allows, and not in batches",
        "1 0",
    ),
    ("serialize_overlap", "no block is under way twice", "0"),
    ("io_submit_mode", "each lane sends and reaps by itself", "inline"),
    ("rate_min rate_iops_min", "a run does not end where a rate is missed: write a need", "0"),
    ("max_latency", "a run does not end at a latency: write a need", "0"),
    (
        "steadystate steadystate_duration steadystate_ramp_time steadystate_check_interval",
        "phases have their whole runtime; repeats: {within: 5%} repeats until a result is known",
        "",
    ),
    ("exitall exit_what", "lanes of a workload have the same runtime or the same work", "0 group"),
    ("exec_postrun", "Assay starts no commands", ""),
    ("nice prio prioclass priohint cgroup cgroup_nodelete cgroup_weight uid gid lockmem hugepage-size", "left to the "
     "system: set it where engines are started", "0"),
    ("ioscheduler", "set the scheduler before, and write it in settings: the run checks it", ""),
    ("cpus_allowed_policy", "lane i runs on the i-th CPU, as with split", "split"),
    ("continue_on_error ignore_error", "errors are counted, and the repeat is marked", "none"),
    ("write_hint", "no hint goes with writes", "none"),
    ("buffer_pattern verify_pattern verify_pattern_interval", "contents are a function of seed, file and offset", "0"),
    ("dedupe_global dedupe_mode dedupe_working_set_percentage", "copies are of a few blocks", "0 repeat"),
    ("verify_backlog verify_backlog_batch verify_policy experimental_verify", "data is checked when it is read, in a "
     "phase after the writes", "0"),
    ("job_start_clock_id", "a run begins when it is started; write a schedule", "0"),
    ("thp", "not for mappings of files", "0"),
    ("fixedbufs force_async nowait uncached sqthread_poll_cpu hipri_percentage", "no such flag of the engine", "0"),
    (
        "cmdprio_percentage cmdprio cmdprio_class cmdprio_hint cmdprio_bssplit",
        "operations have no priorities of their own",
        "0",
    ),
    (
        "http_user http_pass http_s3_key http_s3_keyid http_s3_security_token http_swift_auth_token",
        "credentials are in no study: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment, or a profile",
        "",
    ),
    ("http_s3_sse_customer_key http_s3_sse_customer_algorithm", "objects are not encrypted with a key of the client",
     ""),
)  # fmt: skip
_REFUSED: _Rows = (
    ("bs_unaligned", "records lie at multiples of their size", "0"),
    ("file_append", "a file is not appended to", "0"),
    ("fill_device", "storage is not filled up: write size=", "0"),
    ("rw_sequencer random_sequence_stride", "records come in sequence or at random, not in a sequence of their own",
     "sequential identical 0"),
    ("num_range trim_percentage trim_verify_zero trim_backlog trim_backlog_batch", "nothing is trimmed", "0 1"),
    ("sprandom spr_num_regions spr_op spr_cs", "writes lie at random, not as sprandom places them", "0"),
    ("write_barrier", "no flush every so many writes: fsync=1 or end_fsync=1 has a counterpart", "0"),
    ("sync_file_range", "there is no sync_file_range: fsync=1 or end_fsync=1 has a counterpart", ""),
    ("atomic", "writes are not atomic ones (RWF_ATOMIC)", "0"),
    (
        "thinktime thinktime_spin thinktime_blocks thinktime_blocks_type thinktime_iotime",
        "lanes do not pause: rate_iops= has a counterpart",
        "0 complete",
    ),
    (
        "latency_target latency_window latency_percentile latency_run",
        "the depth is not searched: write several iodepths as jobs, and look at which one the latency is too high",
        "0 100.0 100",
    ),
    ("flow flow_id flow_sleep", "shares of work among jobs have no counterpart", "0"),
    (
        "read_iolog read_iolog_chunked replay_no_stall replay_redirect replay_scale replay_align replay_time_scale "
        "replay_skip merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters",
        "a trace is replayed by another study: `assay trace import LOG`, then `assay study from trace FILE --replay`",
        "0",
    ),
    (
        "zonemode zonesize zonecapacity zonerange zoneskip read_beyond_wp max_open_zones job_max_open_zones "
        "ignore_zone_limits zone_reset_threshold zone_reset_frequency recover_zbd_write_error write_zone_remainder",
        "zones are not measured",
        "0 none",
    ),
    ("fdp dataplacement plid_select plids dp_scheme", "data is placed by the device", "0 none"),
    ("profile", "profiles are not measured", ""),
    ("verify_state_load verify_only", "data of other runs is not checked", "0"),
    ("gpu_dev_id gpu_dev_ids cuda_io rocm_io", "data does not go to the memory of GPUs", "0"),
    ("http_object_mode", "a block is an object of its own: `block`", "block"),
    (
        "readfua writefua write_mode verify_mode read_mode cmd_type cdb_len verify_bytchk md_per_io_size pi_act pi_chk "
        "apptag apptag_mask deac sg_write_mode stream_id",
        "reads and writes are the kernel's, not commands of a device",
        "0 write read compare",
    ),
)  # fmt: skip
_ENGINES: _Rows = (
    ("cpuload cpumode cpuchunks exit_on_io_done", "cpuio", ""),
    ("pool cont chunk_size object_class svcl", "dfs", ""),
    ("donorname inplace", "e4defrag", ""),
    ("program arguments grace_time std_redirect", "exec", ""),
    ("stat_type", "filestat", "stat lstat"),
    ("volume brick single-instance", "gfapi", ""),
    ("libblkio_driver libblkio_path libblkio_pre_connect_props libblkio_num_entries libblkio_queue_size "
     "libblkio_pre_start_props libblkio_vectored libblkio_write_zeroes_on_trim libblkio_wait_mode "
     "libblkio_force_enable_completion_eventfd", "libblkio", ""),
    ("namenode hdfsdirectory single_instance hdfs_use_direct", "libhdfs", ""),
    ("hostname port protocol nodelay listen pingpong interface ttl window_size mss", "net", ""),
    ("initiator", "libiscsi", ""),
    ("skip_bad", "mtd", ""),
    ("uri", "nbd", ""),
    ("clustername rbdname clientname conf busy_poll touch_objects rbd_encryption_format rbd_encryption_passphrase",
     "rbd and rados", ""),
    ("bindname verb", "rdma", ""),
    ("no_completion_thread", "windowsaio", ""),
    ("xnvme_be xnvme_mem xnvme_async xnvme_sync xnvme_admin xnvme_dev_nsid xnvme_dev_subnqn xnvme_iovec", "xnvme", ""),
)  # fmt: skip
"""Options of single engines, with which they stand and fall."""
ALIASES = {
    "readwrite": "rw", "blocksize": "bs", "ba": "blockalign", "blocksize_range": "bsrange", "io_limit": "io_size",
    "fill_fs": "fill_device", "fileoffset": "offset", "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min", "blocksize_unaligned": "bs_unaligned",
    "allrandrepeat": "randrepeat", "nr_files": "nrfiles", "timeout": "runtime", "iomem": "mem",
    "mem_align": "iomem_align", "data_placement": "dataplacement", "fdp_pli_select": "plid_select", "fdp_pli": "plids",
    "ratemin": "rate_min", "ratecycle": "rate_cycle", "wait_for_previous": "stonewall",
    "log_max_value": "log_window_value", "log_unix_epoch": "log_alternate_epoch",
    "disable_bw": "disable_bw_measurement",
    "ss": "steadystate", "ss_dur": "steadystate_duration", "ss_ramp": "steadystate_ramp_time",
    "ss_interval": "steadystate_check_interval", "proto": "protocol", "chunck_size": "chunk_size",
}  # fmt: skip
"""Other name of an option -> its name (fio, options.c, `alias`)."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


FLAGS = word_set(
    "time_based verify_only norandommap bs_unaligned exitall exitall_on_error stonewall new_group thread "
    "group_reporting zero_buffers refill_buffers userspace_reap hipri fixedbufs registerfiles sqthread_poll listen "
    "pingpong libblkio_vectored libblkio_write_zeroes_on_trim libblkio_force_enable_completion_eventfd "
    "no_completion_thread xnvme_iovec"
)
"""Options that need no value (fio, `FIO_OPT_STR_SET`)."""
OPTIONAL = FLAGS | word_set("write_bw_log write_lat_log write_iops_log write_hist_log continue_on_error")
"""Options that job files may have without a value."""
SECRETS = word_set(
    "http_user http_pass http_s3_key http_s3_keyid http_s3_security_token http_swift_auth_token "
    "http_s3_sse_customer_key rbd_encryption_passphrase"
)
"""Options whose values are shown nowhere."""


def _options() -> Iterator[FioOption]:
    for treatment, rows in (("mapped", _MAPPED), ("free", _FREE), ("noted", _NOTED), ("refused", _REFUSED)):
        for names, text, neutral in rows:
            for name in names.split():
                yield FioOption(name, treatment, text, tuple(neutral.split()))  # type: ignore[arg-type]
    for names, engine, neutral in _ENGINES:
        for name in names.split():
            yield FioOption(name, "noted", f"an option of the engine {engine}", tuple(neutral.split()))


OPTIONS: dict[str, FioOption] = {option.name: option for option in _options()}
"""Name -> option."""


def canonical(written: str) -> str:
    """Return the name of an option, whichever of its names is written; the word itself if fio has no such option."""
    return ALIASES.get(written, written)
