//! The position of this process among all that a launcher has started.

use anyhow::{bail, Context};

/// What has started the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// Open MPI, MPICH, Intel MPI.
    Mpirun,
    /// Slurm.
    Srun,
}

/// The position of a process among those that were started together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct World {
    /// Number of the process.
    pub rank: u32,
    /// Number of its host.
    pub node: u32,
    /// Number of the process on its host.
    pub local: u32,
}

/// Variables of launchers for a process's number, its number on its host, and the number of processes on the host.
type Names = [&'static str; 3];
/// Open MPI: mpirun(1). MPICH and Intel: hydra's variables.
const MPIRUN: [Names; 2] = [
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"],
    ["PMI_RANK", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"],
];
/// srun(1); no variable gives the number of tasks of a node.
const SRUN: [Names; 1] = [["SLURM_PROCID", "SLURM_LOCALID", ""]];

impl World {
    /// Read the position from the launcher's variables; it was asked for `tasks` processes on each host, host after
    /// host.
    ///
    /// # Errors
    /// If a variable is missing, or the processes are spread differently.
    pub fn find(launcher: Launcher, tasks: u32, variable: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        let (all, word): (&[Names], _) = match launcher {
            Launcher::Mpirun => (&MPIRUN, "mpirun"),
            Launcher::Srun => (&SRUN, "srun"),
        };
        let Some(names) = all.iter().find(|names| variable(names[0]).is_some()) else {
            bail!(
                "{word} has told this process no number: no variable {}",
                all.iter().map(|names| names[0]).collect::<Vec<_>>().join(" or ")
            );
        };
        let number = |name: &str| -> anyhow::Result<u32> {
            let text = variable(name).with_context(|| format!("{word} has not set {name}"))?;
            text.parse().with_context(|| format!("{name}={text}: not a number"))
        };
        let (rank, local) = (number(names[0])?, number(names[1])?);
        let there = if names[2].is_empty() { tasks } else { number(names[2])? };
        if there != tasks || local != rank % tasks {
            bail!("{word} has not put {tasks} processes on each host, host after host: process {rank} is number {local} of {there} on its own");
        }
        Ok(World { rank, node: rank / tasks, local })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(launcher: Launcher, tasks: u32, set: &[(&str, &str)]) -> Result<World, String> {
        let variable = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        World::find(launcher, tasks, &variable).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn each_launcher_has_its_own_variables() {
        let open =
            [("OMPI_COMM_WORLD_RANK", "5"), ("OMPI_COMM_WORLD_LOCAL_RANK", "1"), ("OMPI_COMM_WORLD_LOCAL_SIZE", "2")];
        assert_eq!(find(Launcher::Mpirun, 2, &open), Ok(World { rank: 5, node: 2, local: 1 }));
        let hydra = [("PMI_RANK", "3"), ("MPI_LOCALRANKID", "0"), ("MPI_LOCALNRANKS", "1"), ("SLURM_PROCID", "0")];
        assert_eq!(find(Launcher::Mpirun, 1, &hydra), Ok(World { rank: 3, node: 3, local: 0 }));
        let slurm = [("SLURM_PROCID", "7"), ("SLURM_LOCALID", "3"), ("PMI_RANK", "1")];
        assert_eq!(find(Launcher::Srun, 4, &slurm), Ok(World { rank: 7, node: 1, local: 3 }));
    }

    #[test]
    fn another_distribution_is_refused() {
        assert!(find(Launcher::Srun, 1, &[]).unwrap_err().contains("srun has told this process no number"));
        let cyclic = [("SLURM_PROCID", "1"), ("SLURM_LOCALID", "0")];
        assert!(find(Launcher::Srun, 2, &cyclic).unwrap_err().contains("has not put 2 processes on each host"));
        let fewer = [("PMI_RANK", "2"), ("MPI_LOCALRANKID", "0"), ("MPI_LOCALNRANKS", "1")];
        assert!(find(Launcher::Mpirun, 2, &fewer).unwrap_err().contains("number 0 of 1 on its own"));
        let odd = [("PMI_RANK", "x"), ("MPI_LOCALRANKID", "0"), ("MPI_LOCALNRANKS", "1")];
        assert!(find(Launcher::Mpirun, 1, &odd).unwrap_err().contains("PMI_RANK=x"));
    }
}
