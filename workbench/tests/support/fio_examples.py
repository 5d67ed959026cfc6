"""fio job files and command lines as people use them, and the studies that ask the same.

They follow what the named documents advise, in own words and sizes. The expected studies were written from fio's HOWTO
and source before the converter, not from what comes out of it.
"""

from typing import Any, NamedTuple


class Example(NamedTuple):
    """A command line or job file, the workloads expected of it, what the head names; or what a refusal names."""

    text: str
    workloads: tuple[dict[str, Any], ...] = ()
    noted: tuple[str, ...] = ()
    refused: str = ""
    target: dict[str, Any] | None = None


def _read(bs: str, depth: int, lanes: int = 1, **more: Any) -> dict[str, Any]:
    return {"record_size": bs, "lanes": lanes, **({"queue_depth": depth} if depth > 1 else {}), **more}


DEVICE = {"kind": "device", "path": "/dev/nvme9n1"}

EXAMPLES: dict[str, Example] = {
    # etcd: is this disk fast enough for its log?
    "etcd": Example(
        "fio --rw=write --ioengine=sync --fdatasync=1 --directory=test-data --size=22m --bs=2300 --name=mytest",
        ({"operations": ["write"], "file_size": "22MiB", "record_size": "2300B", "sync": "o_dsync", "method": "sync",
          "cache": "evict", "lanes": 1},),
        ("fdatasync=1", "--directory=test-data"),
        target={"kind": "file", "path": "test-data/assay-fio"},
    ),
    # Google Cloud, persistent disks.
    "gcp-write-throughput": Example(
        "sudo fio --name=write_throughput --directory=/mnt/t --numjobs=16 \\\n --size=10G --time_based --runtime=5m "
        "--ramp_time=2s --ioengine=libaio \\\n --direct=1 --verify=0 --bs=1M --iodepth=64 --rw=write \\\n"
        " --group_reporting=1 --iodepth_batch_submit=64 --iodepth_batch_complete_max=64",
        (_read("1MiB", 64, 16, operations=["write"], file_size="10GiB", runtime="5m", cache="direct", sync="none",
               layout="separate"),),
        ("ramp_time=2s", "iodepth_batch"),
    ),
    "gcp-read-iops": Example(
        "sudo fio --name=read_iops --directory=/mnt/t --size=10G --time_based --runtime=5m --ramp_time=2s "
        "--ioengine=libaio --direct=1 --verify=0 --bs=4K --iodepth=256 --rw=randread --group_reporting=1",
        (_read("4KiB", 256, operations=["random_read"], runtime="5m", cache="direct"),),
    ),
    # Google Cloud, local SSD: streams at offsets of their own.
    "gcp-streams": Example(
        "fio --name=seq --filename=/dev/nvme9n1 --time_based --ramp_time=2s --runtime=1m --ioengine=libaio --direct=1 "
        "--verify=0 --randrepeat=0 --bs=1M --iodepth=64 --rw=read --numjobs=4 --size=50G --offset_increment=50G",
        (_read("1MiB", 64, 4, operations=["read"], layout="shared", file_size="200GiB", runtime="1m"),),
        target=DEVICE,
    ),
    # AWS, EBS volumes.
    "aws-ebs": Example(
        "sudo fio --filename=/dev/nvme9n1 --rw=randread --bs=16k --runtime=300 --name=perftest --direct=1 "
        "--numjobs=16 --ioengine=psync --group_reporting --size=100g --time_based",
        ({"operations": ["random_read"], "record_size": "16KiB", "lanes": 16, "layout": "shared", "method": "sync",
          "file_size": "100GiB", "runtime": "5m", "cache": "direct"},),
        ("16 jobs",),
    ),
    # Azure, a job file with several jobs one after the other.
    "azure": Example(
        "[global]\nsize=30g\ndirect=1\niodepth=256\nioengine=libaio\nbs=4k\nnumjobs=4\n\n[writer1]\nrw=randwrite\n"
        "directory=/mnt/nocache\nruntime=30\ntime_based\n",
        (_read("4KiB", 256, 4, operations=["random_write"], file_size="30GiB", runtime="30s", sync="none"),),
    ),
    # Oracle Cloud and Alibaba Cloud: single dashes, the name last.
    "alibaba": Example(
        "fio -direct=1 -iodepth=128 -rw=randwrite -ioengine=libaio -bs=4k -size=1G -numjobs=1 -runtime=1000 "
        "-group_reporting -filename=/mnt/d/iotest -name=Rand_Write_Testing",
        (_read("4KiB", 128, operations=["random_write"], file_size="1GiB", time_limit="1000s", layout="separate"),),
        target={"kind": "file", "path": "/mnt/d/assay-fio"},
    ),
    "oracle-mix": Example(
        "sudo fio --filename=/dev/nvme9n1 --direct=1 --rw=randrw --bs=256k --ioengine=libaio --iodepth=256 "
        "--runtime=120 --numjobs=4 --time_based --group_reporting --name=t --eta-newline=1 --size=100g",
        (_read("256KiB", 256, 4, operations=["random_mix"], read_percent=50, layout="shared", runtime="2m"),),
    ),
    # Proxmox: synchronous writes of Ceph journals.
    "proxmox-sync": Example(
        "fio --ioengine=libaio --filename=/dev/nvme9n1 --direct=1 --sync=1 --rw=write --bs=4K --numjobs=1 "
        "--iodepth=1 --runtime=60 --time_based --name=fio --size=10G",
        (_read("4KiB", 1, operations=["write"], sync="o_sync", cache="direct", runtime="1m"),),
    ),
    "ceph-fsync": Example(
        "fio --name=wal --filename=/srv/t/f --fsync=1 --direct=1 --rw=randwrite --bs=4k --size=1g --iodepth=1",
        ({"operations": ["random_write"], "sync": "o_sync", "file_size": "1GiB", "record_size": "4KiB"},),
        ("fsync=1",),
    ),
    # PerfKit Benchmarker's generated job files.
    "pkb": Example(
        "[global]\nioengine=libaio\ninvalidate=1\ndirect=1\nruntime=600\nramp_time=10\ntime_based\n"
        "filename=/dev/nvme9n1\ndo_verify=0\nverify_fatal=0\ngroup_reporting=1\npercentile_list=1:5:10:99.9\n"
        "randrepeat=0\n\n[sequential_read-io-depth-64-num-jobs-1]\nstonewall\nrw=read\nblocksize=512k\niodepth=64\n"
        "size=100g\nnumjobs=1\n[random_write-io-depth-1-num-jobs-1]\nstonewall\nrw=randwrite\nblocksize=4k\niodepth=1\n"
        "size=100g\nnumjobs=1\n",
        (_read("512KiB", 64, operations=["read"], runtime="10m"),
         _read("4KiB", 1, operations=["random_write"], runtime="10m")),
        ("ramp_time=10",),
    ),
    # kubestr's default job file.
    "kubestr": Example(
        "[global]\nrandrepeat=0\nverify=0\nioengine=libaio\ndirect=1\ngtod_reduce=1\n[job1]\nname=read_iops\nbs=4K\n"
        "iodepth=64\nsize=2G\nreadwrite=randread\ntime_based\nramp_time=2s\nruntime=15s\n[job2]\nstonewall\n"
        "name=write_bw\nbs=128K\niodepth=64\nsize=2G\nreadwrite=randwrite\ntime_based\nramp_time=2s\nruntime=15s\n",
        (_read("4KiB", 64, operations=["random_read"], runtime="15s"),
         _read("128KiB", 64, operations=["random_write"], runtime="15s")),
    ),
    # WEKA's file of jobs, one after the other.
    "weka": Example(
        "[global]\nfilesize=128G\ntime_based=1\nnumjobs=32\nstartdelay=5\nexitall_on_error=1\ncreate_serialize=0\n"
        "filename_format=$jobnum/$filenum/bw.$jobnum.$filenum\ndirectory=/mnt/weka/fio\ngroup_reporting=1\n"
        "clocksource=gettimeofday\nruntime=30\nioengine=libaio\ndirect=1\ndisk_util=0\niodepth=1\n\n"
        "[fio-createfiles-00]\nstonewall\nblocksize=1Mi\ndescription='pre-create files'\ncreate_only=1\n\n"
        "[fio-bandwidthSR-00]\nstonewall\ndescription='Sequential Read'\nrw=read\nbs=1Mi\n",
        (_read("1MiB", 1, 32, operations=["read"], file_size="128GiB", runtime="30s", layout="separate"),),
        ("job fio-createfiles-00",),
    ),
    "weka-read": Example(
        "[global]\nfilesize=128G\ntime_based=1\nnumjobs=32\nstartdelay=5\nexitall_on_error=1\ncreate_serialize=0\n"
        "filename_format=$jobnum/$filenum/bw.$jobnum.$filenum\ndirectory=/mnt/weka/fio\ngroup_reporting=1\n"
        "clocksource=gettimeofday\nruntime=30\nioengine=libaio\ndirect=1\ndisk_util=0\niodepth=1\n\n"
        "[fio-bandwidthSR-00]\nstonewall\ndescription='Sequential Read'\nrw=read\nblocksize=1M\n",
        (_read("1MiB", 1, 32, operations=["read"], file_size="128GiB", runtime="30s", layout="separate"),),
        ("startdelay=5",),
    ),
    # Longhorn's benchmark: jobs one after the other on one file, which the first of them finds laid out.
    "one-file": Example(
        "[global]\nsize=10g\nstonewall\nioengine=libaio\ndirect=1\nbs=128k\niodepth=64\n"
        "[a]\nrw=randread\nfilename=/v/test\n[b]\nrw=randwrite\nfilename=/v/test\n"
        "[c]\nrw=write\nfilename=/v/test\n[d]\nrw=write\nfilename=/v/other\n",
        ({"operations": ["random_read"]}, {"operations": ["random_write"]},
         {"operations": ["rewrite"], "preallocate": None}, {"operations": ["write"], "preallocate": True}),
        ("rw=randwrite: what is overwritten is written first",),
    ),
    "first-writes": Example(
        "fio --filename=/v/test --size=1g --bs=4k --name=a --rw=randwrite --name=b --stonewall --rw=write",
        ({"operations": ["random_write"]}, {"operations": ["rewrite"]}),
        ("fio's file has no data yet",),
    ),
    "only-made": Example("fio --name=a --size=1g --rw=read --create_only=1", refused="create_only"),
    # A mixed load at a fixed rate.
    "rate": Example(
        "fio --name=r --rw=randread --bs=8k --size=1g --rate_iops=500 --numjobs=2 --runtime=10 --time_based "
        "--rate_process=poisson --direct=1 --ioengine=io_uring --iodepth=8",
        (_read("8KiB", 8, 2, operations=["random_read"], rate="1000/s", arrivals="poisson", method="io_uring"),),
    ),
    "mix-70-30": Example(
        "fio --randrepeat=1 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=test --filename=test --bs=4k "
        "--iodepth=64 --size=4G --readwrite=randrw --rwmixread=75",
        (_read("4KiB", 64, operations=["random_mix"], read_percent=75, file_size="4GiB"),),
        target={"kind": "file", "path": "assay-fio"},
    ),
    # yabs: a file of 2 GB for 30 seconds, reads and writes halves.
    "yabs": Example(
        "fio --name=rand_rw_64k --ioengine=libaio --rw=randrw --rwmixread=50 --bs=64k --iodepth=64 --numjobs=2 "
        "--size=2G --runtime=30 --gtod_reduce=1 --direct=1 --filename=/tmp/yabs/test.fio --group_reporting "
        "--minimal --time_based",
        (_read("64KiB", 64, 2, operations=["random_mix"], layout="shared", file_size="2GiB", runtime="30s"),),
    ),
    "verify": Example(
        "[write-and-verify]\nrw=randwrite\nbs=4k\ndirect=1\nioengine=libaio\niodepth=16\nverify=crc32c\nsize=64m\n",
        (_read("4KiB", 16, operations=["random_write", "random_read"], verify=True),),
    ),
    "pre-condition": Example(
        "fio --name=fill --filename=/dev/nvme9n1 --rw=write --bs=128k --iodepth=32 --ioengine=libaio --direct=1 "
        "--loops=2 --size=100G",
        (_read("128KiB", 32, operations=["write", "rewrite"], file_size="100GiB"),),
    ),
    "sets": Example(
        "fio --name=smallfiles --directory=/mnt/t --nrfiles=1000 --filesize=16k --openfiles=1 "
        "--file_service_type=sequential --rw=read --bs=16k --numjobs=4 --ioengine=psync",
        ({"operations": ["read"], "files": 1000, "file_size": "16KiB", "record_size": "16KiB", "lanes": 4},),
    ),
    "creates": Example(
        "[global]\ncreate_on_open=1\nnrfiles=31250\nioengine=filecreate\nfallocate=none\nfilesize=4k\nopenfiles=1\n"
        "[t0]\n[t1]\n[t2]\n[t3]\n",
        ({"operations": ["create"], "files": 31250, "lanes": 4, "file_size": "0B"},),
    ),
    "data": Example(
        "fio --name=c --rw=write --size=1g --bs=1m --buffer_compress_percentage=70 --refill_buffers "
        "--dedupe_percentage=30 --cpus_allowed=0-3 --end_fsync=1 --directory=/a:/b --numjobs=2",
        ({"operations": ["write"], "compressible": 70, "duplicate": 30, "cpus": "0-3", "sync": "fsync", "lanes": 2},),
        target={"kind": "file", "path": "/a/assay-fio", "shares": ["/b/assay-fio"]},
    ),
    "s3": Example(
        "[global]\nioengine=http\nhttps=off\nhttp_mode=s3\nhttp_s3_key=SECRETKEY\nhttp_s3_keyid=AKIDSECRET\n"
        "http_host=127.0.0.1:9000\nhttp_s3_region=eu-central-1\nfilename=/bench/obj\nbs=64k\nsize=64m\n"
        "[create]\nrw=write\n[get]\nstonewall\nrw=randread\n[trim]\nstonewall\nrw=trim\n",
        ({"operations": ["put"], "object_size": "64KiB", "objects": 1024}, {"operations": ["get"]},
         {"operations": ["delete"]}),
        ("http_s3_key",),
        target={"kind": "s3", "endpoint": "http://127.0.0.1:9000", "bucket": "bench", "region": "eu-central-1"},
    ),
    "nfs": Example(
        "[j]\nnfs_url=nfs://filer/export/a?version=3\nioengine=nfs\nrw=randread\nbs=4k\nsize=1g\niodepth=8\n"
        "runtime=20\ntime_based\n",
        ({"operations": ["random_read"], "queue_depth": 8, "runtime": "20s"},),
        target={"kind": "nfs", "servers": ["filer"], "export": "/export/a"},
    ),
    "include-of-globals": Example(
        "; a comment\n[global]\nbs=4k ; blocks\nrw=read\n[a]\nsize=1m\n# other values from here on\n[global]\nbs=64k\n"
        "[b]\nsize=16m\nwait_for_previous\n",
        ({"record_size": "4KiB", "file_size": "1MiB"}, {"record_size": "64KiB", "file_size": "16MiB"}),
    ),
    "two-names": Example(
        "fio --bs=4k --size=1m --name=a --rw=read --name=b --rw=randread --stonewall --bs=8k",
        ({"operations": ["read"], "record_size": "4KiB"}, {"operations": ["random_read"], "record_size": "8KiB"}),
    ),
    "together": Example(
        "[global]\nsize=1g\nbs=4k\n[reader]\nrw=randread\n[writer]\nrw=randwrite\n", refused="writer"
    ),
    "trim": Example("fio --name=t --rw=randtrim --bs=4k --size=1g --filename=/dev/nvme9n1", refused="rw=randtrim"),
    "sizes-mixed": Example("fio --name=t --rw=randread --size=1g --bssplit=4k/60:64k/40", refused="bssplit"),
    "zipf": Example(
        "fio --name=t --rw=randread --bs=4k --size=1g --random_distribution=zipf:1.1", refused="random_distribution"
    ),
    "no-size": Example("fio --name=t --rw=randread --bs=4k --filename=/dev/nvme9n1", refused="size"),
    "zoned": Example(
        "fio --name=z --filename=/dev/nvme9n1 --zonemode=zbd --rw=write --bs=128k --size=1g --direct=1",
        refused="zonemode",
    ),
}  # fmt: skip
