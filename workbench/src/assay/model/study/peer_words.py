"""The parameters of other programs, grouped by what replaces them here or why nothing does.

Sources: IOR 4.0's user guide; fio 3.42, options.c and HOWTO.rst; vdbench 5.04.07's user guide; elbencho, ProgArgs.h;
warp, cli/*.go; iozone's manual page.
"""

Words = tuple[tuple[str, str, str], ...]
"""Rows of: our field, or nothing; how it is written, or why it is not; the other program's words, separated by
blanks."""

_LOGS = "each repeat keeps counts, rates and histograms of each interval: assay export"
_PERCENTILES = "percentiles are always measured: assay show RUN CASE"
_SEVERAL = "several values are cases of their own: record_size: [4KiB, 64KiB]; sizes are not mixed in one"
_WHOLE = "files are worked on as a whole, from their beginning"
_CHECKED = "verify: true checks the data of each read against what was written"
_HOSTS = "write hosts: client[1-8] at the top of the study"
_MADE = "Assay makes its data in its own directory, and removes it"
_KEEPS = "write output: {keep_files: true} at the top of the study"
_LIMIT = (
    "operations per second of all lanes together, such as rate: 1000/s; bytes per second are that times record_size"
)
_ENGINE = "the engine does this by itself"
_PHASES = "phases of a case follow each other, and all lanes begin each together"
_ERRORS = "errors are counted; a repeat with errors is marked"
_ZONES = "zoned devices are not measured"
_REPLAY = "traces are replayed as they are: write commands: {NAME: {replay: FILE}}"
_TERMS = "use a schedule, or a run for each, to put work in order"
KEYS = "the engine takes credentials from the environment or ~/.aws/credentials, never from a study"
TLS = "the endpoint of the target decides (https://...), and ca_file names the trusted CA"
_TARGET = "a field of the target: {kind: s3, endpoint: ...}"
_STEADY = "repeats: {least: 8, within: 5%} repeats until the result is known that accurately"
_MONITOR = "links, CPUs and disks of hosts are measured automatically"
_SHELL = "Assay starts no other commands: run them before assay run"
_LAKE = "requests to catalogues of tables are not measured"

FIO: Words = (
    ("record_size", _SEVERAL, "bssplit bsrange blocksize_range"),
    ("record_size", "records lie at multiples of it", "ba blockalign"),
    ("record_size", "records always lie at multiples of it", "bs_unaligned blocksize_unaligned bs_is_seq_rand"),
    ("file_size", "size of each file, such as file_size: 1GiB", "filesize"),
    ("file_sizes", "shares of sizes, such as file_sizes: {16KiB: 60, 1MiB: 40}", "file_size_range"),
    ("runtime", "a duration, such as runtime: 30s; the work is then repeated until the end", "timeout"),
    ("total_size", "total of all lanes, such as total_size: 10GiB", "io_size io_limit number_ios"),
    ("total_size", "storage is not filled up; write an amount, such as total_size: 10GiB", "fill_device fill_fs"),
    ("", _WHOLE, "offset offset_align offset_increment fileoffset file_append"),
    ("files", "write files: 1000; a lane opens one after the other", "openfiles nr_files file_service_type"),
    ("arrivals", "write arrivals: poisson, with rate: 1000/s", "rate_process"),
    ("rate", _LIMIT, "rate_min ratemin rate_iops_min rate_cycle ratecycle rate_ignore_thinktime"),
    (
        "rate",
        "lanes do not pause; a rate below what they could do leaves room",
        "thinktime thinkcycles thinktime_blocks thinktime_blocks_type thinktime_iotime thinktime_spin",
    ),
    (
        "rate",
        "write several rates: rate: [1000/s, 2000/s], and look at which one the latency is too high",
        "latency_target latency_window latency_percentile latency_run max_latency",
    ),
    (
        "access",
        "records are taken uniformly, each once; items of tables have access: zipfian 0.99",
        "random_distribution random_generator norandommap softrandommap random_sequence_stride",
    ),
    (
        "operations",
        "random_mix is random altogether, sequential_mix sequential",
        "percentage_random percentage_sequential rw_sequencer",
    ),
    ("read_percent", "each operation is drawn as a read or write, with this share", "rwmixcycle"),
    (
        "verify",
        _CHECKED,
        "do_verify experimental_verify verify_async verify_async_cpus verify_backlog"
        " verify_backlog_batch verify_dump verify_fatal verify_header_seed verify_interval verify_offset verify_only"
        " verify_pattern verify_pattern_interval verify_policy verify_state_load verify_state_save"
        " verify_write_sequence verifysort verifysort_nr trim_verify_zero",
    ),
    ("compressible", "percent of the data that is zeros: compressible: 50", "buffer_compress_chunk"),
    (
        "duplicate",
        "percent of the data that is copies: duplicate: 50",
        "dedupe_global dedupe_mode dedupe_working_set_percentage",
    ),
    (
        "compressible",
        "data is a function of seed, file and offset, and new with each write; compressible: 100 is zeros",
        "refill_buffers scramble_buffers zero_buffers buffer_pattern",
    ),
    ("seed", "write seed: 1 at the top of the study", "randrepeat allrandrepeat"),
    (
        "sync",
        "sync: fsync or fdatasync flushes at the end of a phase, o_sync or o_dsync with each write",
        "fsync_on_close create_fsync end_syncfs sync_file_range write_barrier",
    ),
    ("cache", "cache: keep, evict, drop or direct says what is in memory before a phase", "invalidate pre_read"),
    (
        "cache",
        "what is in memory is the policy's: cache: keep or evict",
        "fadvise_hint mem mem_align iomem iomem_align lockmem",
    ),
    ("huge_pages", "write huge_pages: true", "hugepage_size"),
    ("reorder_by", "reorder and reorder_by decide which lane works on whose files", "filetype lockfile"),
    (
        "queue_depth",
        "requests are sent and reaped as they come; write queue_depth: 16",
        "iodepth_batch"
        " iodepth_batch_complete iodepth_batch_complete_max iodepth_batch_complete_min iodepth_batch_submit iodepth_low"
        " io_submit_mode serialize_overlap",
    ),
    ("cpus", "write cpus: 0-3,6", "cpumask cpus_allowed_policy gtod_cpu log_compression_cpus"),
    ("path", "a target states the path, and Assay names its files", "filename_format unique_filename opendir"),
    ("output", _KEEPS, "unlink unlink_each_loop"),
    ("", _MADE, "create_on_open create_only create_serialize overwrite allow_file_create allow_mounted_write"),
    (
        "",
        _PHASES,
        "stonewall wait_for wait_for_previous new_group exitall exitall_on_error exit_what flow flow_id"
        " flow_sleep flow_watermark",
    ),
    ("", _TERMS, "startdelay job_start_clock_id"),
    ("", "lanes begin together, and what is done before all are at work is excluded automatically", "ramp_size"),
    (
        "repeats",
        _STEADY,
        "steadystate steadystate_check_interval steadystate_duration steadystate_ramp_time ss ss_dur"
        " ss_interval ss_ramp",
    ),
    (
        "",
        _PERCENTILES,
        "clat_percentiles lat_percentiles slat_percentiles percentile_list significant_figures"
        " block_error_percentiles disable_clat disable_lat disable_slat",
    ),
    (
        "",
        _LOGS,
        "write_bw_log write_hist_log write_iops_log write_lat_log log_avg_msec log_compression log_entries"
        " log_hist_coarseness log_hist_msec log_issue_time log_max_value log_offset log_prio log_store_compressed"
        " log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id log_window_value per_job_logs stats bwavgtime"
        " iopsavgtime disk_util disable_bw disable_bw_measurement unified_rw_reporting kb_base unit_base",
    ),
    ("", _ENGINE, "gtod_reduce clocksource comm"),
    ("", _ERRORS, "continue_on_error ignore_error error_dump"),
    (
        "",
        "settings of the kernel are recorded, and set outside of Assay",
        "ioscheduler nice prio prioclass priohint uid gid"
        " cgroup cgroup_nodelete cgroup_weight write_hint atomic_writes",
    ),
    (
        "",
        _ZONES,
        "zonemode zonerange zonesize zoneskip zonecapacity zone_reset_frequency zone_reset_threshold"
        " read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits write_zone_remainder"
        " recover_zbd_write_error",
    ),
    (
        "",
        "data is placed by the device",
        "fdp fdp_pli fdp_pli_select data_placement dataplacement dp_scheme plids"
        " plid_select sprandom spr_cs spr_num_regions spr_op gpu_dev_id",
    ),
    (
        "commands",
        "`assay trace import LOG` makes a trace of it; then write commands: {NAME: {replay: FILE}}",
        "read_iolog read_iolog_chunked",
    ),
    ("pace", "with commands: {NAME: {replay: FILE, pace: fast}}", "replay_no_stall"),
    ("pace", "200 is pace: 2, with commands: {NAME: {replay: FILE, pace: 2}}", "replay_time_scale"),
    (
        "",
        _REPLAY,
        "write_iolog merge_blktrace_file merge_blktrace_iters merge_blktrace_scalars replay_align replay_redirect"
        " replay_scale replay_skip",
    ),
    ("", "nothing is trimmed", "trim_backlog trim_backlog_batch trim_percentage num_range"),
    ("", _SHELL, "exec_prerun exec_postrun profile"),
)
VDBENCH: Words = (
    ("record_size", _SEVERAL, "forxfersize"),
    ("lanes", "several values are cases of their own: lanes: [1, 8, 32]", "forthreads"),
    ("read_percent", "several values are cases of their own: read_percent: [0, 50, 100]", "forrdpct"),
    ("files", "several values are cases of their own: files: [100, 1000]", "forfiles"),
    ("file_sizes", "several values are cases of their own, as with file_size: [1MiB, 1GiB]", "forsizes forsize"),
    ("depth", "several values are cases of their own: depth: [1, 2]", "fordepth"),
    ("width", "several values are cases of their own: width: [10, 100]", "forwidth"),
    ("operations", "each operation is a phase: operations: [write, read]", "operation foroperations foroperation"),
    ("rate", _LIMIT, "iorate curve forrate forfwdrate fwdrate_max"),
    (
        "operations",
        "seekpct=100 is random_read or random_write, seekpct=0 read or rewrite; it is one or the other",
        "seekpct forseekpct",
    ),
    ("cache", "openflags=o_direct is cache: direct, openflags=o_sync is sync: o_sync", "openflags"),
    ("output", "write output: {interval: 1s} at the top of the study", "interval"),
    ("total_size", "total of all lanes, such as total_size: 10GiB", "workingsetsize wss totalsize_max"),
    ("time_limit", "how long at most, such as time_limit: 30s; or stop by size, with total_size", "stopafter maxdata"),
    ("compressible", "percent of the data that is zeros: compratio=2 is compressible: 50", "compratio"),
    (
        "duplicate",
        "percent of the data that is copies: dedupratio=2 is duplicate: 50",
        "dedupratio dedupunit dedupsets",
    ),
    ("verify", _CHECKED, "validate data_errors journal"),
    ("path", "a target states the path: {kind: device, path: /dev/...}", "lun"),
    (
        "targets",
        "targets are defined at the top of the study, and a workload names those that it is for",
        "fsd fsd1 sd sd1",
    ),
    (
        "workloads",
        "a workload is defined at the top of the study, and may have several values of each field",
        "fwd fwd1 wd wd1 rd rd1",
    ),
    ("", _MADE, "format formatsds formatxfersize cleanup"),
    ("", "work is divided equally among lanes; several workloads are cases of their own", "skew"),
    ("", "what is done before every lane is at work is excluded automatically", "warmup"),
    ("hosts", _HOSTS, "hd hd1 system jvms vdbench shell"),
    ("", _WHOLE, "hitarea rhpct whpct startlba"),
    ("", "lanes each have files of their own, or one together with layout: shared", "shared distribution"),
    ("", _MONITOR, "monitor report swat"),
    ("", _SHELL, "startcmd endcmd debug messagescan concatenate concatenatesds"),
)
ELBENCHO: Words = (
    ("record_size", "write record_size: 1MiB", "block"),
    ("lanes", "write lanes: 16; they are those of each host", "datasetthreads"),
    (
        "operations",
        "rand is random_read or random_write, else write, read or rewrite",
        "rand randalgo norandalign backward strided",
    ),
    ("operations", "write operations: [mkdir], with depth and width", "mkdirs deldirs statdirs"),
    ("operations", "write operations: [write, read, stat, unlink]", "delfiles statinline readinline"),
    ("total_size", "total of all lanes, such as total_size: 10GiB", "randamount"),
    ("width", "directories of a tree: width: 4, depth: 1", "dirs dirsharing"),
    (
        "read_percent",
        "the share of reads in random_mix and sequential_mix, such as read_percent: 70",
        "rwmixpct rwmixthr rwmixthrpct",
    ),
    ("rate", _LIMIT, "limitread limitwrite"),
    ("runtime", "runtime: 30s goes over the data as often as needed", "infloop"),
    ("time_limit", "write time_limit: 30s; or runtime: 30s to go over the data as often as needed", "timelimit"),
    ("repeats", "write repeats: 5 at the top of the study; they are independent runs of each case", "iterations"),
    ("preallocate", "write preallocate: true", "preallocfile"),
    (
        "compressible",
        "percent of the data that is zeros: blockvarpct=50 is compressible: 50",
        "blockvarpct blockvaralgo",
    ),
    ("numa_node", "write numa_node: 0", "zones"),
    ("cpus", "write cpus: 0-3,6", "cores"),
    ("method", "write method: mmap", "mmap madv"),
    ("cache", "cache: drop empties the page cache before a phase", "dropcache fadv"),
    ("verify", _CHECKED, "verifydirect"),
    ("", _MADE, "trunc trunctosize nodelerr no0usecerr nopathexp flock nodiocheck nofdsharing sharesize"),
    (
        "hosts",
        _HOSTS,
        "hostsfile clients clientsfile serversfile numhosts numservers rotatehosts rankoffset"
        " nosvcshare svcping svcupint svcwait svcpwfile service foreground nodetach interrupt quit port",
    ),
    ("", _PERCENTILES, "lat lathisto latpercent latpercent9s allelapsed svcelapsed dirstats"),
    (
        "",
        _LOGS,
        "csvfile jsonfile resfile livecsv livecsvex livejson livejsonex live1 live1n liveint nolive"
        " nocsvlabels label log opslog opsloglock s3log s3logprefix cpu",
    ),
    ("", "phases follow each other at once", "phasedelay start"),
    (
        "",
        "trees have a depth and a width; lists of files are not read",
        "treefile treerand treeroundrob treeroundup treescan",
    ),
    (
        "",
        "data does not go to the memory of GPUs",
        "gds gdsbufreg gpuids gpuperservice cufile cufiledriveropen cuhostbufreg",
    ),
    ("", "assay preflight measures links", "netbench netbenchservers netdevs recvbuf sendbuf respsize"),
    ("targets", "HDFS is not measured", "hdfs"),
    ("targets", _TARGET, "s3endpoints s3region s3virtaddr s3sign s3checksumalgo s3chksumalgo s3objprefix"),
    ("", KEYS, "s3key s3secret s3sessiontoken s3credfile s3credlist"),
    (
        "operations",
        "write operations: [put, get, head, list, delete, multi_delete]",
        "s3listobj s3listobjpar s3listverify s3multidel s3statdirs s3fastget s3fastput s3randobj s3single",
    ),
    (
        "part_size",
        "write part_size: 16MiB",
        "s3mpusizevar s3mpusplit s3mpusharing s3mpucomplphase s3nompcheck s3nompucompl",
    ),
    (
        "",
        "access lists, tags, locks and encryption of S3 are not measured",
        "s3aclget s3aclgrantee s3aclgtype"
        " s3aclgrants s3aclput s3aclputinl s3aclverify s3baclget s3baclput s3btag s3btagverify s3bversion"
        " s3bversionverify"
        " s3olockcfg s3olockcfgverify s3otag s3otagverify s3sse s3sseckey s3ssekmskey s3nocompress",
    ),
    ("rate", _LIMIT, "s3targetgbps s3maxconns"),
    ("", _ERRORS, "s3ignoreerrors"),
)
WARP: Words = (
    (
        "object_size",
        "write object_size: 1MiB; several values are cases of their own",
        "obj.size objsize obj.randsize obj_size size_distribution",
    ),
    ("compressible", "percent of the data that is zeros: compressible: 50", "obj.generator"),
    ("lanes", "write lanes: 20; they are those of each host", "concurrent read-concurrent fanout"),
    ("runtime", "write runtime: 60s", "duration"),
    (
        "mix",
        "write mix: {get: 45, put: 15, head: 30, delete: 10} with operations: [object_mix]",
        "get-distrib put-distrib stat-distrib delete-distrib",
    ),
    ("operations", "write operations: [object_mix], with mix: {get: 70, put: 30}", "mixed"),
    ("repeats", _STEADY, "autoterm autoterm.dur autoterm.pct sustained"),
    ("output", _KEEPS, "noclear keep-data"),
    ("part_size", "write part_size: 5MiB", "part.size parts part.concurrent multipart disable-multipart multipart-put"),
    ("range", "write range: 64KiB: a get reads this many bytes of each object", "range-size"),
    ("objects", "write objects: 1000, a number for each lane", "num-files objs.per obj.name"),
    ("batch", "write batch: 100 with operations: [multi_delete]", "delete-batch"),
    ("rate", _LIMIT, "rps-limit read-rps-limit"),
    ("", KEYS, "access-key secret-key s3-access-key s3-secret-key session-token sts-web-token"),
    ("targets", TLS, "tls s3-tls insecure ktls http2 disable-http-keepalive"),
    (
        "targets",
        _TARGET,
        "bucket base-location lookup host host-select s3-host resolve-host region prefix noprefix"
        " list-existing list-flat checksum md5 storage-class signature max-keys",
    ),
    ("hosts", _HOSTS, "warp-client syncstart client"),
    (
        "",
        _PERCENTILES,
        "analyze analyze.dur analyze.host analyze.limit analyze.offset analyze.op analyze.out"
        " analyze.skip analyze.v full benchdata cmp merge",
    ),
    ("", _LOGS, "influxdb no-color stdout autocompletion pprofdir serverprof trace debug"),
    ("", "requests are sent once; failures are counted", "max-retries backoff-base backoff-max"),
    (
        "",
        "tags, locks, versions and encryption are not measured",
        "encrypt sse-s3-encrypt retention tag metadata"
        " add-metadata mutex disable-sha256-payload snowball append fan-out",
    ),
    ("", _ENGINE, "sndbuf rcvbuf rdma rdma.window cache-dir"),
    (
        "",
        _LAKE,
        "iceberg catalog-commits catalog-mixed catalog-name catalog-read external-catalog"
        " files-per-commit namespace-depth namespace-width ns-get-distrib ns-head-distrib ns-list-distrib"
        " ns-update-distrib properties rows-per-file scale-factor simulate-read skip-upload table-commits-throughput"
        " table-get-distrib table-head-distrib table-list-distrib table-update-distrib tables-per-ns tpcds tpcds-table"
        " view-commits-throughput view-get-distrib view-head-distrib view-list-distrib view-update-distrib"
        " views-per-ns",
    ),
)
IOR: Words = (
    ("record_size", "write record_size: 1MiB", "transferSize"),
    ("block_size", "write block_size: 16MiB, with segments: 4", "blockSize"),
    ("segments", "write segments: 4", "segmentCount"),
    ("repeats", "write repeats: 5 at the top of the study; they are independent runs of each case", "repetitions"),
    ("layout", "filePerProc=1 is layout: separate, filePerProc=0 layout: shared", "filePerProc uniqueDir"),
    ("reorder", "write reorder: node", "reorderTasks reorderTasksConstant reorderTasksRandom taskPerNodeOffset"),
    (
        "operations",
        "each is a phase: operations: [write, read]",
        "writeFile readFile checkWrite checkRead randomOffset",
    ),
    ("sync", "sync: fsync flushes at the end of a phase, o_sync with each write", "fsyncPerWrite"),
    ("cache", "useO_DIRECT=1 is cache: direct", "useO_DIRECT"),
    (
        "time_limit",
        "write time_limit: 30s; wear_out: true goes on until all lanes have done as much",
        "deadlineForStonewalling stoneWallingWearOut",
    ),
    ("output", _KEEPS, "keepFile keepFileWithError"),
    ("lanes", "write tasks_per_host: 8, or lanes: 8; IOR's lines become studies by `assay study from ior`", "numTasks"),
    ("path", "a target states the path: {kind: file, path: /mnt/data/assay}", "testFile"),
    ("targets", "the kind of a target states how it is accessed: kind: file or kind: mpiio", "api"),
)
IOZONE: Words = (
    ("operations", "several values are cases of their own: file_size: [64MiB, 1GiB], record_size: [4KiB, 1MiB]", "-a"),
    ("file_size", "several values are cases of their own: file_size: [64MiB, 1GiB]", "-n -g -z"),
    ("record_size", "several values are cases of their own: record_size: [4KiB, 16MiB]", "-y -q"),
    ("lanes", "several values are cases of their own: lanes: [1, 2, 4]", "-l -u"),
    ("hosts", _HOSTS, "-+m -+h -+s -+c"),
    ("method", "write method: mmap, threads or io_uring", "-B -H -k -G -D"),
    ("sync", "closing is measured with the phase; sync: fsync flushes at its end", "-c"),
    ("output", _KEEPS, "-w"),
    ("cache", "cache: remount unmounts the study's mounts and mounts them again before a phase", "-U"),
    ("cache", "cache: drop or evict empties the page cache before a phase", "-+Z -p"),
    ("verify", _CHECKED, "-+d -V -+V"),
    ("stride", "write stride: 17 with operations: [stride_read]", "-j"),
    ("cpus", "write cpus: 0-3,6", "-P"),
    ("compressible", "percent of the data that is zeros: compressible: 50", "-+y -+C -+w"),
    ("queue_depth", "write queue_depth: 16", "-+D"),
    ("read_percent", "the share of reads in random_mix, such as read_percent: 70", "-+p"),
    ("", "rates are in bytes and operations per second, both always", "-O -N"),
    ("", "assay export writes CSV, JSON, Parquet and XLSX", "-R -b -x -Q -Z"),
    ("", _MONITOR, "-+u -+t"),
    ("", _ENGINE, "-A -C -E -J -K -L -M -S -T -W -X -Y -h -v -d -m -+n -+r -+q -+x -+A -+B -+N -+O -+T -+U -+l -+L"),
)
