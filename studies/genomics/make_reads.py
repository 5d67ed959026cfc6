#!/usr/bin/env python3
"""Make a reference genome and reads of a sample of it, the same ones for the same seed.

Writes `genome.fa` and, for each of N tasks, `reads.N.fq` into the working directory. The sample differs from the
reference by one base in 1,000; a read has one wrong base in 200; three of 100 reads are of something else, so that
they do not align.
"""

import argparse
import random
from pathlib import Path

BASES = "ACGT"
READ_BASES = 100
COMPLEMENT = str.maketrans("ACGT", "TGCA")
VARIANT_SHARE = 0.001
ERROR_SHARE = 0.005
FOREIGN_SHARE = 0.03


def changed(source: random.Random, sequence: str, share: float) -> str:
    """Return the sequence with about this share of its bases replaced by others."""
    bases = list(sequence)
    for place in range(len(bases)):
        if source.random() < share:
            bases[place] = source.choice([base for base in BASES if base != bases[place]])
    return "".join(bases)


def read(source: random.Random, sample: str) -> str:
    """Return the bases of one read, from either strand."""
    if source.random() < FOREIGN_SHARE:
        return "".join(source.choices(BASES, k=READ_BASES))
    start = source.randrange(len(sample) - READ_BASES)
    bases = changed(source, sample[start : start + READ_BASES], ERROR_SHARE)
    return bases if source.random() < 0.5 else bases.translate(COMPLEMENT)[::-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--genome", type=int, default=1_000_000, help="bases of the genome")
    parser.add_argument("--tasks", type=int, default=4, help="files of reads")
    parser.add_argument("--reads", type=int, default=10_000, help="reads in each file")
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    source = random.Random(words.seed)
    genome = "".join(source.choices(BASES, k=words.genome))
    lines = "\n".join(genome[at : at + 60] for at in range(0, len(genome), 60))
    Path("genome.fa").write_text(f">genome\n{lines}\n")
    sample = changed(source, genome, VARIANT_SHARE)
    for task in range(1, words.tasks + 1):
        with Path(f"reads.{task}.fq").open("w") as file:
            for number in range(words.reads):
                file.write(f"@{task}.{number}\n{read(source, sample)}\n+\n{'I' * READ_BASES}\n")


if __name__ == "__main__":
    main()
