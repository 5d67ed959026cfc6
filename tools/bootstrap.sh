#!/bin/sh
# Make sure that what the Makefile needs is there: Python >= 3.11 with venv, Rust >= 1.95, a C linker; with
# "tests" also git, and valgrind to count instructions; with "all-tests" Chromium, an MPI and what the cluster in a box runs;
# with "guests" QEMU; with "soak" fio and bpftrace; with "dist" the compiler for the other architecture.
# Installs Debian packages where it may, says how otherwise.
set -eu

install() {
    if ! command -v apt-get >/dev/null; then
        return 1
    fi
    if [ "$(id -u)" = 0 ]; then as_root=""; elif sudo -n true 2>/dev/null; then as_root="sudo"; else return 1; fi
    echo "installing $*" >&2
    # A machine that has just started may be installing its updates: wait for these instead of failing.
    wait='-o DPkg::Lock::Timeout=600'
    $as_root apt-get -qq $wait update >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive $as_root apt-get -qq $wait install -y --no-install-recommends "$@" >/dev/null
}

# What the cluster in a box runs. The packages' daemons must not start on the machine itself: policy-rc.d forbids it
# meanwhile, unless the administrator has one already.
box_programs() {
    missing=""
    for pair in sshd:openssh-server iperf3:iperf3 ganesha.nfsd:nfs-ganesha rpcbind:rpcbind ip:iproute2 tc:iproute2 \
        ping:iputils-ping nfs-cp:libnfs-utils mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs mkfs.btrfs:btrfs-progs \
        nsenter:util-linux setpriv:util-linux losetup:mount vblade:vblade smbd:samba smbclient:smbclient \
        glusterd:glusterfs-server mfsmaster:moosefs-master mfschunkserver:moosefs-chunkserver mfsmount:moosefs-client \
        mfscli:moosefs-cli s3fs:s3fs ceph:ceph-common ceph-mon:ceph-mon ceph-mgr:ceph-mgr ceph-osd:ceph-osd ceph-mds:ceph-mds \
        ceph-fuse:ceph-fuse slurmctld:slurm-wlm munged:munge modulecmd:environment-modules mpirun.openmpi:openmpi-bin mpicc.openmpi:libopenmpi-dev mpiexec.mpich:mpich mpicc.mpich:libmpich-dev; do
        PATH="$PATH:/usr/sbin:/sbin" command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
    done
    ls /usr/lib/*/ganesha/libfsalvfs.so >/dev/null 2>&1 || missing="$missing nfs-ganesha-vfs"
    # rpcbind looks its own port up there.
    [ -e /etc/services ] || missing="$missing netbase"
    [ -n "$missing" ] || return 0
    policy=/usr/sbin/policy-rc.d
    if [ "$(id -u)" = 0 ] && [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod 755 $policy
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
    # Some of these words are the same; apt-get does not mind.
    # shellcheck disable=SC2086
    RUNLEVEL=1 install $missing || echo "note: no$missing: tests of the cluster in a box will be skipped" >&2
}

fail() {
    echo "error: $1" >&2
    echo "hint: $2" >&2
    exit 1
}

python=${PYTHON:-python3}
command -v "$python" >/dev/null || install python3 python3-venv || fail "no $python" "install Python 3.11 or later"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "$("$python" --version) is too old" "install Python 3.11 or later, or say make PYTHON=/path/to/python3.11"
"$python" -c 'import venv, ensurepip' 2>/dev/null || install python3-venv || fail "$python has no venv module" "apt-get install python3-venv"
command -v cc >/dev/null || install gcc libc6-dev || fail "no C linker (cc)" "apt-get install gcc libc6-dev"
command -v cargo >/dev/null || fail "no Rust toolchain (cargo)" "install Rust 1.95 or later, see https://rustup.rs"
minor=$(cargo --version | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
[ "${minor:-0}" -ge 95 ] || fail "$(cargo --version) is too old" "install Rust 1.95 or later: rustup update stable"
if [ "${1:-}" = tests ]; then
    command -v git >/dev/null || install git || fail "no git" "apt-get install git"
    command -v valgrind >/dev/null || install valgrind || echo "note: no valgrind: instructions will not be counted" >&2
fi
if [ "${1:-}" = all-tests ]; then
    if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then
        install chromium chromium-driver || echo "note: no chromium and chromium-driver: the browser test will be skipped" >&2
    fi
    command -v debootstrap >/dev/null || install debootstrap || echo "note: no debootstrap: installs will not be tested" >&2
    command -v mpicc >/dev/null || install openmpi-bin libopenmpi-dev || echo "note: no mpicc: MPI-IO will not be tested" >&2
    box_programs
fi
if [ "${1:-}" = guests ]; then
    command -v debootstrap >/dev/null || install debootstrap || fail "no debootstrap" "apt-get install debootstrap"
    command -v qemu-system-x86_64 >/dev/null && command -v qemu-img >/dev/null || install qemu-system-x86 qemu-utils ||
        fail "no QEMU" "apt-get install qemu-system-x86 qemu-utils"
fi
if [ "${1:-}" = dist ]; then
    case $(uname -m) in
    x86_64) program=aarch64-linux-gnu-gcc packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross" ;;
    *) program=x86_64-linux-gnu-gcc packages="gcc-x86-64-linux-gnu libc6-dev-amd64-cross" ;;
    esac
    # Two words.
    # shellcheck disable=SC2086
    command -v $program >/dev/null || install $packages || echo "note: no $program: nothing will be built for the other architecture" >&2
fi
if [ "${1:-}" = soak ]; then
    for program in bpftrace fio; do
        command -v $program >/dev/null || install $program || echo "note: no $program: fio, Assay and a tracer will not be compared" >&2
    done
fi
