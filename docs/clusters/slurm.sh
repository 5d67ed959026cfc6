#!/bin/sh
# Slurm, by hand: sbatch docs/clusters/slurm.sh
#SBATCH --job-name=assay
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time=1:00:00
# It starts in the directory from which it was submitted.
if command -v module > /dev/null; then module purge; module load assay openmpi; fi
exec assay run "${STUDY:-study.yaml}" ${ASSAY_OPTIONS---stage}
