"""How closely several engines start together on a machine that does nothing else."""

from group_tools import GUARD, job, members, samples
from run_tools import needs_engine

from assay.launch.group import run_group
from assay.plan.jobs import joint_job

pytestmark = needs_engine


def test_engines_start_together_and_their_clocks_are_compared_closely() -> None:
    """Against the time in which each of them does 256 operations of 1 ms."""
    done = run_group(members(joint_job(job(), 4)), GUARD)
    read, write = samples(done)
    # Barriers are told apart by what the clocks of the hosts cannot hide.
    assert read.skew_ns < 0.35 * read.elapsed_ns
    assert read.clock_uncertainty_ns < 0.07 * read.elapsed_ns
    assert write.steady and abs(write.steady / write.throughput - 1) < 0.5
