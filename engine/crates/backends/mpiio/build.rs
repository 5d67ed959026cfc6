//! Compiles the shim with the MPI's own compiler wrapper, and links to the libraries that the wrapper links to.
//!
//! Does nothing without the feature `mpi`: the engine without MPI-IO is built on hosts without any MPI.

use std::env;
use std::path::Path;
use std::process::{exit, Command};

fn main() {
    println!("cargo:rerun-if-changed=shim/mpi.c");
    println!("cargo:rerun-if-env-changed=MPICC");
    if env::var_os("CARGO_FEATURE_MPI").is_none() {
        return;
    }
    let wrapper = env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
    let folder = env::var("OUT_DIR").unwrap_or_default();
    let (object, archive) = (format!("{folder}/mpi.o"), format!("{folder}/libassay_mpi.a"));
    run(&wrapper, &["-O2", "-fPIC", "-Wall", "-c", "shim/mpi.c", "-o", &object]);
    let _ = std::fs::remove_file(&archive);
    run("ar", &["crs", &archive, &object]);
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=static=assay_mpi");
    // Open MPI, MPICH and Intel MPI all print the command that they run.
    for word in run(&wrapper, &["-show"]).split_whitespace() {
        if let Some(path) = word.strip_prefix("-L").filter(|path| Path::new(path).is_dir()) {
            println!("cargo:rustc-link-search=native={path}");
        } else if let Some(name) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={name}");
        }
    }
}

/// Returns the standard output of a command; exits if it fails.
fn run(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        Ok(output) => {
            eprintln!("{program} {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
            exit(1)
        }
        Err(error) => {
            eprintln!("{program}: {error}: the engine with MPI-IO needs an MPI's compiler wrapper; name it in MPICC");
            exit(1)
        }
    }
}
