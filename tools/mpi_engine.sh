#!/bin/sh
# Build assay-engine-mpi where there is an MPI's compiler wrapper: mpicc, or what $MPICC names. Without one, or with one that
# does not work, all but targets of kind mpiio is there all the same, and `assay doctor` says what is missing.
# With "mpich", for tests: assay-engine-mpich first, the same linked to MPICH, where that is installed beside another MPI.
set -eu

build() {
    cargo build --release --locked --quiet --package assay-cli --features mpiio --bin assay-engine-mpi
}

programs=${CARGO_TARGET_DIR:-target}/release
if [ "${1:-}" = mpich ] && command -v mpicc.mpich >/dev/null; then
    beside=$programs/assay-engine-mpich
    if [ ! -e "$beside" ] || [ -n "$(find engine Cargo.lock -newer "$beside" -print -quit)" ]; then
        # cargo keeps one program of a name: it is put aside, and the usual one built again below.
        if MPICC=mpicc.mpich build; then cp "$programs/assay-engine-mpi" "$beside"; fi
    fi
fi

wrapper=${MPICC:-mpicc}
command -v "$wrapper" >/dev/null || exit 0
build ||
    echo "note: assay-engine-mpi could not be built with $wrapper: targets of kind mpiio cannot be measured" >&2
