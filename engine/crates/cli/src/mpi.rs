//! assay-engine-mpi.

fn main() -> std::process::ExitCode {
    assay_cli::main()
}
