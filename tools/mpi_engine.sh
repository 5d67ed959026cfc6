#!/bin/sh
# Build assay-engine-mpi where there is an MPI's compiler wrapper: mpicc, or what $MPICC names. Without one, or with one that
# does not work, all but targets of kind mpiio is there all the same, and `assay doctor` says what is missing.
set -eu

wrapper=${MPICC:-mpicc}
command -v "$wrapper" >/dev/null || exit 0
cargo build --release --locked --quiet --package assay-cli --features mpiio --bin assay-engine-mpi ||
    echo "note: assay-engine-mpi could not be built with $wrapper: targets of kind mpiio cannot be measured" >&2
