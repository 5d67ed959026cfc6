#!/bin/sh
# LSF or OpenLava: bsub < docs/clusters/lsf.sh
#BSUB -J assay
#BSUB -n 4
#BSUB -R "span[ptile=1]"
#BSUB -x
#BSUB -W 1:00
#BSUB -o assay-%J.txt
# It starts in the directory from which it was submitted.
if command -v module > /dev/null; then module purge; module load assay openmpi; fi
exec assay run "${STUDY:-study.yaml}" ${ASSAY_OPTIONS---stage}
