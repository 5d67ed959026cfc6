"""Parameter files of vdbench as people write them, and the studies that ask the same.

The files were written for this test after those in tuning guides, in a paper and in public repositories. What is
expected was written down from vdbench's user guide and source before there was a converter.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.model.base import AssayError
from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.load import load_study
from assay.rooms.foreign.work.vdbench.options import GENERAL, OPTIONS, option_of
from assay.rooms.foreign.work.vdbench.study import vdbench_study

INCLUDED = {"common.inc": "fsd=fsd1,anchor=/mnt/nas/meta,depth=3,width=8,files=100,size=(4k,60,16k,30,1m,10)\n"
                          "fsd=fsd1all,anchor=/mnt/nas/all,depth=2,width=3,files=5,distribution=all\n"}  # fmt: skip

LUN = """hd=default,user=root,shell=ssh
sd=sd1,lun=/dev/nvme9n1,openflags=o_direct,size=200g,threads=64
wd=wd1,sd=sd1,xfersize=1M,readpct=30,seekpct=70
rd=rd1,wd=wd1,iorate=max,elapsed=120,maxdata=500g,interval=2,warmup=30
"""
CEPH = """fsd=fsd1,anchor=/mnt/ceph,depth=1,width=100,files=200,size=200m,shared=yes
fwd=fwd1,fsd=fsd1,rdpct=60,xfersize=1m,fileio=random,fileselect=random,threads=64
rd=rd1,fwd=fwd1,fwdrate=max,format=restart,elapsed=600,interval=1
"""
MIX = """* a server of files
hd=client,system=10.0.0.7,jvms=8,user=root,shell=vdbench
fsd=fsd_$host,anchor=/nfs1/test,depth=1,width=10,files=100,size=1m
fwd=default,xfersize=16K,fileio=random,fileselect=random,threads=2
fwd=fwd$host_1,host=$host,fsd=fsd_$host,operation=getattr
fwd=fwd$host_2,host=$host,fsd=fsd_$host,operation=setattr
fwd=fwd$host_3,host=$host,fsd=fsd_$host,operation=read
fwd=fwd$host_4,host=$host,fsd=fsd_$host,operation=read
rd=rd1,fwd=fwd*,fwdrate=(1000-3000,1000),format=yes,elapsed=300,pause=180,interval=5
"""
SIZES = """data_errors=10
fsd=default,depth=1,width=10,files=50,sizes=(500m,0),openflags=o_direct
fsd=fsd1,anchor=/mnt/t1
fsd=fsd2,anchor=/mnt/t2
fwd=fwd1,fsd=fsd*,threads=10,xfersize=(4k,20,64k,50,1024k,30),fileio=random,fileselect=random,rdpct=70
rd=rd1,fwd=fwd*,fwdrate=max,format=restart,elapsed=2h,interval=1
"""
HOSTS = """hd=default,vdbench=/opt/vdbench,user=admin
hd=host1,system=192.168.10.101
hd=host2,system=192.168.10.102

sd=sd1,hd=host1,lun=/dev/mapper/a,openflag=o_direct,threads=32,
sd=sd2,hd=host2,lun=/dev/mapper/b,openflag=o_direct,threads=32

wd=wd1,sd=(sd1,sd2),xfersize=8k,rdpct=50,seekpct=100
rd=rd1,wd=wd1,iorate=max,elapsed=300,warmup=30,interval=5
"""
PAPER = """fsd=fsd1,anchor=/mnt/mount1/throughput/${host},depth=2,width=10,files=10,size=1G
fwd=default,fsd=fsd1,fileio=sequential,fileselect=sequential
fwd=read,operation=read,threads=20,xfersize=1M
fwd=write,operation=write,threads=20,xfersize=64k,openflags=directio
rd=rd_read,fwd=read,fwdrate=max,format=restart,elapsed=300,interval=1,forxfersize=(64k,128k,256k,512k,1024k)
rd=rd_write,fwd=write,fwdrate=max,format=no,elapsed=300,interval=1
"""
SWEEP = """* blocks
messagescan=no  * of no interest
compratio=2
dedupratio=2,dedupunit=4k
sd=default,openflags=o_direct,
threads=16
sd=sd1,lun=/mnt/vol1/file1,size=10g
sd=sd2,lun=/mnt/vol2/file2,size=10g
wd=default,sd=sd*
wd=rand,seekpct=100
wd=seq,seekpct=0
rd=default,iorate=max,elapsed=60,interval=1,pause=10
rd=fill,wd=seq,xfersize=256k,rdpct=0
rd=r,wd=rand,forxfersize=(4k,64k),forrdpct=(100,70,0),forthreads=(1-8,d)
"""
OLTP = """/ several at once
sd=sd1,lun=/dev/sdx1,openflags=o_direct,size=100g
sd=sd2,lun=/dev/sdx2,openflags=o_direct,size=100g
sd=sd3,lun=/dev/sdx3,openflags=o_direct,size=100g
wd=oltp1,sd=(sd1-sd2),xfersize=8k,rdpct=65,seekpct=100,skew=60
wd=oltp2,sd=sd1,xfersize=(4k,50,16k,30,64k,20),rdpct=100,range=(0,50),rhpct=20,skew=40
rd=ramp,wd=oltp*,iorate=(1000-3000,1000),elapsed=600,interval=5,threads=32,distribution=deterministic
rd=curve,wd=oltp1,iorate=curve,curve=(10-100,10),elapsed=60
"""
NAMES = """include=common.inc
fwd=fwd1,fsd=fsd1,threads=8
fwd=fwd2,fsd=fsd1all,threads=4
rd=gone,fwd=fwd1,fwdrate=max,format=(clean,only)
rd=mk,fwd=fwd1,fwdrate=max,format=(restart,only)
rd=meta,fwd=fwd2,fwdrate=max,format=no,elapsed=60,foroperations=(delete,create,getattr,setattr,mkdir,rmdir)
rd=look,fwd=fwd2,fwdrate=500,operations=getattr,elapsed=60
eof
this is not read
"""
VERIFY = """validate=yes
sd=sd1,lun=$lun,size=1g
wd=wd1,sd=sd1,xfersize=1m,rdpct=0,seekpct=eof
wd=wd2,sd=sd1,xfersize=4k,rdpct=100,seekpct=random
rd=fill,wd=wd1,iorate=max,elapsed=24h,interval=60,threads=8
rd=check,wd=wd2,iorate=2000,elapsed=600,interval=10
"""
FILES = {"lun": LUN, "ceph": CEPH, "mix": MIX, "sizes": SIZES, "hosts": HOSTS, "paper": PAPER, "sweep": SWEEP,
         "oltp": OLTP, "names": NAMES, "verify": VERIFY}  # fmt: skip
DISK = {"layout": "shared", "lanes": 1, "cache": "direct", "sync": "none"}
TREE = {"layout": "shared", "sync": "none"}
EXPECTED: dict[str, dict[str, dict[str, Any]]] = {
    "lun": {
        "rd1": {**DISK, "operations": ["random_mix"], "read_percent": 30, "record_size": "1MiB", "queue_depth": 64,
                "file_size": "200GiB", "runtime": "120s"},
    },
    "ceph": {
        "rd1": {**TREE, "operations": ["random_mix"], "read_percent": 60, "total_files": 20000, "depth": 1,
                "width": 100, "lanes": 64, "file_size": "200MiB", "record_size": "1MiB", "cache": "keep",
                "file_order": "random", "runtime": "600s"},
    },
    "mix": {
        "rd1-fwd_1": {**TREE, "operations": ["stat"], "total_files": 1000, "depth": 1, "width": 10, "lanes": 2,
                      "runtime": "300s", "rate": ["250/s", "500/s", "750/s"], "arrivals": "poisson"},
        "rd1-fwd_3": {**TREE, "operations": ["random_read"], "total_files": 1000, "depth": 1, "width": 10, "lanes": 4,
                      "file_size": "1MiB", "record_size": "16KiB", "cache": "keep", "file_order": "random",
                      "runtime": "300s", "rate": ["500/s", "1000/s", "1500/s"], "arrivals": "poisson"},
    },
    "sizes": {
        "rd1": {**TREE, "operations": ["random_mix"], "read_percent": 70, "total_files": 1000, "depth": 1, "width": 10,
                "lanes": 10, "file_sizes": dict.fromkeys(("250MiB", "375MiB", "500MiB", "625MiB", "750MiB"), 1),
                "record_size": "64KiB", "cache": "direct",
                "file_order": "random", "runtime": "7200s"},
    },
    "hosts": {
        "rd1": {**DISK, "operations": ["random_mix"], "read_percent": 50, "targets": ["sd1", "sd2"], "queue_depth": 32,
                "record_size": "8KiB", "file_size": "10GiB", "runtime": "300s"},
    },
    "paper": {
        "rd_read": {**TREE, "operations": ["read"], "total_files": 1000, "depth": 2, "width": 7, "lanes": 20,
                    "file_size": "1GiB", "record_size": ["64KiB", "128KiB", "256KiB", "512KiB", "1MiB"],
                    "cache": "keep", "file_order": "sequential", "runtime": "300s"},
        "rd_write": {**TREE, "operations": ["rewrite"], "total_files": 1000, "depth": 2, "width": 7, "lanes": 20,
                     "file_size": "1GiB", "record_size": "64KiB", "cache": "direct", "file_order": "sequential",
                     "runtime": "300s"},
    },
    "sweep": {
        name: {"file_size": "10GiB", "lanes": 2, "cache": "direct", "sync": "none", "runtime": "60s",
               "compressible": 50, "duplicate": 50, **fields}
        for name, fields in {
            "fill": {"operations": ["rewrite"], "record_size": "256KiB", "queue_depth": 16},
            "r": {"operations": ["random_read", "random_write"], "record_size": ["4KiB", "64KiB"],
                  "queue_depth": [1, 2, 4, 8]},
            "r-mix": {"operations": ["random_mix"], "read_percent": 70, "record_size": ["4KiB", "64KiB"],
                      "queue_depth": [1, 2, 4, 8]},
        }.items()
    },
    "oltp": {
        "ramp-oltp1": {**DISK, "operations": ["random_mix"], "read_percent": 65, "targets": ["sd1", "sd2"],
                       "file_size": "100GiB", "record_size": "8KiB", "queue_depth": 32, "runtime": "600s",
                       "rate": ["300/s", "600/s", "900/s"]},
        "ramp-oltp2": {**DISK, "operations": ["random_read"], "targets": ["sd1"], "file_size": "100GiB",
                       "record_size": "4KiB", "queue_depth": 32, "runtime": "600s",
                       "rate": ["400/s", "800/s", "1200/s"]},
        "curve": {**DISK, "operations": ["random_mix"], "read_percent": 65, "targets": ["sd1", "sd2"],
                  "file_size": "100GiB", "record_size": "8KiB", "queue_depth": 8, "runtime": "60s"},
    },
    "names": {
        "mk": {**TREE, "targets": ["fsd1"], "operations": ["write"], "total_files": 51200, "depth": 3, "width": 8,
               "lanes": 8, "file_sizes": {"4KiB": 60, "16KiB": 30, "1MiB": 10}, "record_size": "128KiB",
               "cache": "keep"},
        "meta": {**TREE, "targets": ["fsd1all"], "operations": ["mkdir", "create", "stat", "unlink", "rmdir"],
                 "total_files": 60, "depth": 2, "width": 3, "inner": True, "lanes": 4},
        "look": {**TREE, "targets": ["fsd1all"], "operations": ["stat"], "total_files": 60, "depth": 2, "width": 3,
                 "inner": True, "lanes": 4, "runtime": "60s", "rate": "500/s", "arrivals": "poisson"},
    },
    "verify": {
        "fill": {"operations": ["rewrite"], "file_size": "1GiB", "record_size": "1MiB", "lanes": 1, "queue_depth": 8,
                 "cache": "keep", "sync": "none"},
        "check": {"operations": ["random_read"], "file_size": "1GiB", "record_size": "4KiB", "lanes": 1,
                  "queue_depth": 8, "cache": "keep", "sync": "none", "rate": "2000/s", "arrivals": "poisson",
                  "runtime": "600s", "verify": True},
    },
}  # fmt: skip
NOTED = {
    "lun": ("seekpct=70", "maxdata=500g", "warmup=30"),
    "ceph": ("anchor=/mnt/ceph", "cache: keep"),
    "mix": ("$host", "system=10.0.0.7", "operation=setattr", "pause=180", "fwdrate="),
    "sizes": ("sizes=(500m,0)", "xfersize=(4k,20"),
    "hosts": ("system=192.168.10.101", "2 devices at once", "size:"),
    "paper": ("$host", "width=10: 7: each of 20 lanes has 50 files"),
    "sweep": ("dedupunit=4k", "pause=10"),
    "oltp": ("skew=60", "range=(0,50)", "rhpct=20", "curve=(10-100,10)", "xfersize=(4k,50"),
    "names": ("rd=gone: format=clean", "rd=meta"),
    "verify": ("seekpct=eof", "lun=/mnt/x/disk", "interval"),
}
FROM_SOURCE = {
    GENERAL: "abort_failed_skew auxreport compratio compression compressionseed concatenatesds create_anchors "
             "data_errors dataerrors debug end_cmd endcmd formatsds formatxfersize heartbeat_error histogram journal "
             "loop messagescan misc monitor pattern pattern_buffer port psrset report report_run_totals showlba "
             "start_cmd startcmd swat unix2windows validate dedup dedupacross dedupflipflop deduphotsets dedupmaxkey "
             "dedupratio dedupsets dedupunit",
    "hd": "system vdbench shell user jvms clients mount",
    "sd": "lun count size threads hitarea offset align kstat instance replay journal resetlun resetbus openflags range "
          "streams hd host",
    "wd": "sd skew xfersize rdpct readpct writepct wrpct range hotband seekpct stride priority iorate rhpct whpct host "
          "hd openflags user threads streams",
    "rd": "wd sd fsd fwd iorate maxdata maxdataread maxdatawritten skew curve stopcurve elapsed interval warmup replay "
          "pause distribution start_cmd startcmd end_cmd endcmd fwdrate operations format openflags mount forxfersize "
          "forthreads forrdpct forrhpct forwhpct forseekpct forhitarea forcompratio forcompression fordepth forwidth "
          "forfiles forsizes fortotalsize forworkingsetsize forwss foroperations xfersize threads rdpct rhpct whpct "
          "seekpct hitarea compratio compression depth width files sizes totalsize workingsetsize wss",
    "fsd": "anchor journal hd host width depth sizes shared wss workingsetsize total_size totalsize files distribution "
           "cleanup openflags log count",
    "fwd": "fsd readpct rdpct stopafter operation fileselect fileio xfersizes skew threads target host hd openflags",
    "rg": "devices",
}  # fmt: skip
"""Every keyword that the sources of 5.04.06 compare with what is written (`prm.keyword`), by their file."""


def included(name: str) -> str:
    if name not in INCLUDED:
        raise AssayError(f"{name}: no such file", "name a file")
    return INCLUDED[name]


def convert(text: str) -> str:
    return vdbench_study(text, "work.parm", included, {"lun": "/mnt/x/disk"})


def workloads(text: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(convert(text))["workloads"]
    return found


def refused(text: str) -> AssayError:
    with pytest.raises(AssayError) as error:
        convert(text)
    assert error.value.hint
    return error.value


@pytest.mark.parametrize("name", FILES)
def test_a_parameter_file_becomes_the_study_that_asks_the_same(name: str, tmp_path: Path) -> None:
    text = convert(FILES[name])
    study = load_study(text.encode(), str(tmp_path))
    assert study.study is not None, study.problems
    cases = expand(study.study)
    assert cases.cases and not cases.excluded and not cases.faults
    assert workloads(FILES[name]) == EXPECTED[name]
    notes = [line for line in text.splitlines() if line.startswith("# * ")]
    for part in NOTED[name]:
        assert any(line.startswith(f"# * {part}") or f", {part}" in line for line in notes), part
    for case in cases.cases:
        if study.study.targets[case.target].kind == "file":
            assert plan_job(study.study, case, 1, 1)


def test_places_are_directories_that_assay_makes_or_devices() -> None:
    targets = {name: yaml.safe_load(convert(FILES[name]))["targets"] for name in ("lun", "sizes", "sweep")}
    assert targets["lun"] == {"sd1": {"kind": "device", "path": "/dev/nvme9n1"}}
    assert targets["sizes"]["fsd1"] == {"kind": "file", "path": "/mnt/t1/assay-vdbench",
                                        "shares": ["/mnt/t2/assay-vdbench"]}  # fmt: skip
    assert targets["sweep"]["sd1"]["shares"] == ["/mnt/vol2/assay-vdbench"]
    assert yaml.safe_load(convert(FILES["lun"]))["output"] == {"interval": "2s"}


def test_every_parameter_has_an_entry() -> None:
    for kind, words in FROM_SOURCE.items():
        for word in words.split():
            assert word in OPTIONS[kind], f"{kind}: {word}"
    for kind, options in OPTIONS.items():
        for name, option in options.items():
            assert option.why and option.fate in ("mapped", "left out", "no effect"), f"{kind}: {name}"


def test_a_parameter_that_is_left_out_is_noted_with_its_reason() -> None:
    heads = {"sd": "sd=a,lun=/x/y,size=1g", "wd": "wd=w,sd=a", "rd": "rd=r,wd=w,elapsed=5"}
    for kind in heads:
        for name, option in OPTIONS[kind].items():
            if option.fate == "left out" and name not in ("hd", "host", "curve"):
                lines = [f"{head},{name}=7" if one == kind else head for one, head in heads.items()]
                assert f"# * {name}=7: {option.why}" in convert("\n".join(lines)), name


def test_beginnings_of_names_are_enough() -> None:
    assert option_of("sd", "thread") == "threads" and option_of("sd", "openflag") == "openflags"
    assert option_of("fwd", "xfersize") == "xfersizes" and option_of("fsd", "size") == "sizes"
    assert option_of("rd", "nothing") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no run definition"),
        ("sd=a,lun=/x/y\nwd=w\n", "no run definition"),
        ("wd=w\nrd=r,wd=w\n", "no sd= and no fsd="),
        ("sd=a,lun=/x/y,colour=red\nwd=w,sd=a\nrd=r,wd=w", "work.parm:1: sd=a: no parameter of vdbench"),
        ("sd=a,lun=/x/y\nwd=w,sd=b\nrd=r,wd=w", "there is no 'b'"),
        ("sd=a\nwd=w,sd=a\nrd=r,wd=w", "no lun"),
        ("sd=a,lun=/x/y,size=big\nwd=w,sd=a\nrd=r,wd=w", "'big' is no number"),
        ("sd=a,lun=$place\nwd=w,sd=a\nrd=r,wd=w", "work.parm:1: $place is a variable"),
        ("sd=a,lun=/x/y\nwd=w,sd=(a\nrd=r,wd=w", "parentheses"),
        ("sd=a,lun=C:\\disk\nwd=w,sd=a\nrd=r,wd=w", "Windows"),
        ("include=none.inc\n", "no such file"),
        ("fsd=f,anchor=/x\nfwd=w,fsd=f,operation=fly\nrd=r,fwd=w", "'fly' is no operation"),
        ("fsd=f,anchor=/x\nfwd=w,fsd=f,operation=setattr\nrd=r,fwd=w", "no operation that Assay has"),
        ("fsd=f,anchor=/x\nfwd=w,fsd=f\nrd=r,fwd=w,format=clean", "no operation that Assay has"),
        ("sd=a,lun=/x/y\nwd=w,sd=a\nrd=r,wd=w,forthreads=(1-2000000,1)", "more than 1000 values"),
        ("fsd=f,anchor=/x,width=1000,depth=9\nfwd=w,fsd=f\nrd=r,fwd=w", "a tree of depth 9"),
        ("sd=a,lun=/dev/x\nsd=b,lun=/x/y\nwd=w,sd=*\nrd=r,wd=w", "devices and files"),
    ],
)
def test_what_vdbench_or_assay_would_not_do_is_refused(text: str, words: str) -> None:
    error = refused(text)
    assert words in str(error)


def test_ranges_of_names_counts_and_quotes() -> None:
    text = 'fsd=f,anchor="/mnt/a b",count=(1,3),files=2\nfwd=w,fsd=f\nrd=r,fwd=w,elapsed=5'
    study = yaml.safe_load(convert(text))
    assert [study["targets"]["f1"]["path"], *study["targets"]["f1"]["shares"]] == [
        f"/mnt/a b{place}/assay-vdbench" for place in (1, 2, 3)
    ]
    assert study["workloads"]["r"]["total_files"] == 6
    sds = "".join(f"sd=sd{place},lun=/x{place}/y,size=1g\n" for place in range(1, 6))
    assert workloads(f"{sds}wd=w,sd=(sd2-sd4)\nrd=r,wd=w")["r"]["lanes"] == 3


def test_a_share_of_reads_leaves_only_reads_and_writes() -> None:
    text = "fsd=f,anchor=/x\nfwd=w,fsd=f,rdpct=100,operation=getattr,fileio=random\nrd=r,fwd=w,elapsed=5"
    assert workloads(text)["r"]["operations"] == ["random_read"]
    assert "# * operation=getattr, rdpct=100: with a share of reads" in convert(text)


def test_files_are_made_as_a_format_makes_them() -> None:
    head = "fsd=f,anchor=/x,size=1m\n"
    tail = "fwd=w,fsd=f,threads=2,xfersize=4k\nrd=r,fwd=*,format=only"
    own = workloads(f"{head}fwd=format,threads=32,xfersize=1m\n{tail}")["r"]
    assert (own["lanes"], own["record_size"], own["operations"]) == (32, "1MiB", ["write"])
    default = workloads(f"{head}{tail}")["r"]
    assert (default["lanes"], default["record_size"]) == (8, "128KiB")


def test_variables_are_not_taken_for_hosts() -> None:
    text = "fsd=f_$host,anchor=$anchor1\nfwd=w$host_1,fsd=f_$host,host=$host1\nrd=r,fwd=w*,elapsed=5"
    study = yaml.safe_load(vdbench_study(text, "x", included, {"anchor1": "/mnt/q", "host1": "a"}))
    assert study["targets"] == {"f": {"kind": "file", "path": "/mnt/q/assay-vdbench"}}


def test_passwords_and_terminals_are_safe() -> None:
    text = convert("misc=\x1b[31m\nsd=a,lun=/x/y\nwd=w,sd=a,user=\u202ex\nrd=r,wd=w,startcmd=password=secret1")
    assert "\x1b" not in text and "\u202e" not in text and "secret1" not in text
    assert re.search(r"study files run no commands", text)


def test_a_time_that_no_workload_can_have_is_refused() -> None:
    text = "sd=sd1,lun=/mnt/x,size=1g\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max,elapsed=600000000\n"
    with pytest.raises(AssayError, match="365 days at most"):
        vdbench_study(text, "x", lambda name: name, {})


def test_sizes_may_end_with_a_b_after_their_letter() -> None:
    text = "fsd=f,anchor=/mnt/x,depth=1,width=1,files=9,size=64KB\nfwd=w,fsd=f,operation=read,xfersize=4kb\n"
    run = "rd=r,fwd=w,fwdrate=max,format=yes,elapsed=9\n"
    work = yaml.safe_load(vdbench_study(text + run, "x", lambda name: name, {}))["workloads"]["r"]
    assert (work["file_size"], work["record_size"]) == ("64KiB", "4KiB")


def test_files_of_about_one_size_are_of_any_size_or_of_whole_blocks() -> None:
    text = "fsd=f,anchor=/x,files=9,size=(10k,0){flags}\nfwd=w,fsd=f\nrd=r,fwd=w,elapsed=5"
    assert workloads(text.format(flags=""))["r"]["file_sizes"] == "uniform 5KiB..15KiB"
    direct = workloads(text.format(flags=",openflags=o_direct"))["r"]["file_sizes"]
    assert direct == {"4KiB": 1, "8KiB": 1, "12KiB": 1}


@pytest.mark.parametrize(
    ("width", "depth", "threads", "fits"), [(100, 1, 64, 78), (100, 1, 50, 100), (10, 2, 20, 7), (10, 1, 1000, 1)]
)
def test_a_tree_has_no_more_directories_than_a_lane_has_files(
    width: int, depth: int, threads: int, fits: int, tmp_path: Path
) -> None:
    files = {(100, 1): 50, (10, 2): 10, (10, 1): 150}[width, depth]
    fsd = f"fsd=f,anchor=/x,depth={depth},width={width},files={files}"
    text = f"{fsd}\nfwd=w,fsd=f,threads={threads}\nrd=r,fwd=w,elapsed=5"
    study = load_study(convert(text).encode(), str(tmp_path)).study
    assert study is not None and not expand(study).faults
    assert workloads(text)["r"]["width"] == fits
    assert (f"# * width={width}: {fits}" in convert(text)) == (fits < width)


def test_a_run_that_ends_with_the_data_has_a_time_limit() -> None:
    text = "sd=a,lun=/x/y,size=1g\nwd=w,sd=a,rdpct=0,seekpct=0\nrd=r,wd=w,elapsed=100h,maxdata={}"
    once = workloads(text.format(1))["r"]
    assert (once["time_limit"], "runtime" in once) == ("360000s", False)
    assert workloads(text.format("0"))["r"]["runtime"] == "360000s"
    for other in ("2", "500g"):
        assert workloads(text.format(other))["r"]["runtime"] == "360000s"
        assert f"# * maxdata={other}: a phase ends by its runtime" in convert(text.format(other))


def test_the_copy_among_results_and_what_starts_other_hosts_are_read() -> None:
    text = (
        "<title>Vdbench out/parmfile.html</title><pre>\n\n* Contents of parameter file: x\n"
        "hd=default,shell=vdbench,master=10.0.0.1\nsd=a,lun=/x/y,size=1g\nwd=w,sd=a\nrd=r,wd=w,elapsed=5\n</pre>"
    )
    assert workloads(text)["r"]["runtime"] == "5s"
    assert "master" not in convert(text)


def test_runs_on_some_and_on_all_places_have_folders_of_their_own(tmp_path: Path) -> None:
    text = (
        "fsd=a,anchor=/m/1\nfsd=b,anchor=/m/2\nfwd=x,fsd=a\nfwd=y,fsd=(a,b)\nfwd=z,fsd=b\n"
        "rd=r1,fwd=x\nrd=r2,fwd=y\nrd=r3,fwd=z\nrd=r4,fwd=y"
    )
    study = yaml.safe_load(convert(text))
    places = {name: [one["path"], *one.get("shares", [])] for name, one in study["targets"].items()}
    assert places == {
        "a": ["/m/1/assay-vdbench"],
        "a-2": ["/m/1/assay-vdbench-2", "/m/2/assay-vdbench-2"],
        "b": ["/m/2/assay-vdbench"],
    }
    assert load_study(convert(text).encode(), str(tmp_path)).study is not None
