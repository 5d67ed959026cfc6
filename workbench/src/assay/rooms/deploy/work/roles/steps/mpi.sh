# variables: MPI
mpi_packages() { case $MPI-$1 in openmpi-apt) echo openmpi-bin ;; openmpi-dnf) echo openmpi ;; mpich-*) echo mpich ;; esac; }
mpi_program() {
    for one in "mpiexec.$MPI" "/usr/lib64/$MPI/bin/mpiexec"; do
        if has "$one"; then command -v "$one" && return; fi
    done
    return 1
}
mpi_check() {
    case $MPI in
        none) echo "no MPI is asked for" ;;
        openmpi | mpich) mpi_program || { [ -z "$PLAN" ] && echo "$MPI has no mpiexec here" && return 2; } ;;
        *) echo "MPI is $MPI, not none, openmpi or mpich" && return 2 ;;
    esac
}
mpi_plan() { echo "use $MPI, which the packages bring"; }
mpi_run() { mpi_program; }
