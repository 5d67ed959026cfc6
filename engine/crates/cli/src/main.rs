//! assay-engine.

fn main() -> std::process::ExitCode {
    assay_cli::main()
}
