//! Resolves all addresses at once: `resolve_async SERVICE SOURCE ADDRESS...`.
use acm_client::{Address, Request, Response, Service, tokio::Client};
use core::time::Duration;
use std::{env, process::ExitCode};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut words = env::args().skip(1);
    let (Some(Ok(service)), Some(source)) = (words.next().map(|word| word.parse::<Service>()), words.next()) else {
        eprintln!("resolve_async SERVICE SOURCE ADDRESS...");
        return ExitCode::from(2);
    };
    let client = match Client::connect(service.clone()).await {
        Ok(client) => client,
        Err(error) => {
            eprintln!("{service}: {error}; is the daemon running?");
            return ExitCode::FAILURE;
        }
    };
    let source = Some(Address::from_text(&source));
    let tasks = words.map(|address| {
        let client = client.clone();
        tokio::spawn(async move {
            let request =
                Request::Resolve { source, dest: Address::from_text(&address), conditions: None, no_delay: false };
            (client.ask(request, Duration::from_secs(10)).await, address)
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        match task.await {
            Ok((Ok(Response::Path(found)), address)) => println!("{address}: LID {}", found.path.dlid),
            Ok((Ok(Response::Refused(status)), address)) => println!("{address}: {status}"),
            Ok((Ok(other), address)) => println!("{address}: {other:?}"),
            Ok((Err(error), address)) => println!("{address}: {error}"),
            Err(error) => println!("{error}"),
        }
    }
    ExitCode::SUCCESS
}
