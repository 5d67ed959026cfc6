#!/bin/sh
# PBS or Torque: qsub docs/clusters/pbs.sh
#PBS -N assay
#PBS -l select=4:ncpus=16:mpiprocs=1
#PBS -l walltime=01:00:00
# (Torque has one line for both: #PBS -l nodes=4:ppn=16)
# PBS starts in the home directory; runs are kept below the directory from which it was submitted.
cd "$PBS_O_WORKDIR" || exit 1
if command -v module > /dev/null; then module purge; module load assay openmpi; fi
exec assay run "${STUDY:-study.yaml}" ${ASSAY_OPTIONS---stage}
