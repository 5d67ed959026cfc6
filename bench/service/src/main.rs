//! `assay-service ADDRESS`: an S3 service that throws all contents away, until its standard input ends.
#![allow(clippy::print_stdout)]

use assay_backend_http::service::{Contents, Service};
use std::io::Read;
use std::process::ExitCode;

fn main() -> ExitCode {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    match Service::start(&address, Contents::Discarded) {
        Ok(service) => {
            println!("{}", service.endpoint());
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
