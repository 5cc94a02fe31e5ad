//! All ranks of a run are the same program with the same experiment: else their results would be
//! mixed, or they would wait for each other for ever.

use serde::{Deserialize, Serialize};

use super::{give_up, together};
use crate::cli::args::RunOptions;
use crate::cli::process::failure::Failure;
use crate::cli::process::program;
use weir_engine::{Transport, broadcast};
use weir_simulation::MODEL_VERSION;
use weir_simulation::config::Experiment;

/// Everything that the ranks of a run have in common. The resolved experiment has the hashes of its
/// traces.
#[derive(Serialize, Deserialize)]
struct Identity {
    program: String,
    experiment: String,
    options: String,
}

/// Ends all ranks if one of them differs from rank 0. The error is the exit code; its message has
/// been printed.
pub fn must_be_the_same(
    transport: &mut dyn Transport,
    experiment: &Experiment,
    options: &RunOptions,
) -> Result<(), u8> {
    if transport.size() == 1 {
        return Ok(());
    }
    let own = Identity {
        program: program(),
        experiment: experiment.resolved.clone(),
        options: of_all_ranks(options),
    };
    let first = match broadcast(transport, &own) {
        Ok(first) => first,
        Err(error) => {
            let failure = Failure::failed(format!("error: {error}"));
            return Err(give_up(transport, &failure));
        }
    };
    let rank = transport.rank();
    let result = match difference(&own, &first) {
        None => Ok(()),
        Some((what, help)) => Err(Failure::bad_input(format!(
            "error: rank {rank} {what}\n  help: {help}"
        ))),
    };
    together(transport, result)
}

fn program() -> String {
    format!("{}, model version {MODEL_VERSION}", program::build())
}

/// The options that decide what ranks tell each other.
fn of_all_ranks(options: &RunOptions) -> String {
    let mut words = Vec::new();
    if let Some(packet) = &options.watch_packet {
        words.push(format!("--watch-packet {packet}"));
    }
    if let (Some(dir), Some(at)) = (&options.share_state, options.share_at) {
        words.push(format!("--share-state {} --share-at {at}", dir.display()));
    }
    match words.is_empty() {
        true => "none of these".into(),
        false => words.join(" "),
    }
}

/// The first difference of this rank from rank 0, and the remedy.
fn difference(own: &Identity, first: &Identity) -> Option<(String, &'static str)> {
    if own.program != first.program {
        let what = format!("is {}, rank 0 is {}", own.program, first.program);
        return Some((what, "start the same program on all hosts"));
    }
    if own.options != first.options {
        let what = format!(
            "has other options than rank 0: `{}`, not `{}`",
            own.options, first.options
        );
        return Some((what, SAME));
    }
    if own.experiment == first.experiment {
        return None;
    }
    let mut section = "";
    let mut others = first.experiment.lines();
    for line in own.experiment.lines() {
        let other = others.next().unwrap_or("nothing");
        if line != other {
            let what = format!("has another experiment than rank 0: `{line}`, not `{other}`");
            let what = match section {
                "" => what,
                section => format!("{what}, in {section}"),
            };
            return Some((what, SAME));
        }
        if line.starts_with('[') {
            section = line;
        }
    }
    let line = others.next().unwrap_or_default();
    let what = format!("has another experiment than rank 0: it lacks `{line}`");
    Some((what, SAME))
}

const SAME: &str = "give all ranks the same experiment file, options and trace files; all hosts \
                    must see the same files";

#[cfg(test)]
mod tests {
    use super::*;

    fn said(own: [&str; 2], first: [&str; 2]) -> Option<String> {
        let [own, first] = [own, first].map(|[program, experiment]| Identity {
            program: program.into(),
            experiment: experiment.into(),
            options: String::new(),
        });
        difference(&own, &first).map(|(what, _)| what)
    }

    #[test]
    fn the_first_line_that_differs_is_named_with_its_section() {
        let text = "seed = 1\n[run]\nuntil = \"1 us\"\n";
        assert_eq!(said(["a", text], ["a", text]), None);
        let other = text.replace("1 us", "2 us");
        assert_eq!(
            said(["a", &other], ["a", text]).as_deref(),
            Some(
                "has another experiment than rank 0: `until = \"2 us\"`, not `until = \"1 us\"`, \
                 in [run]"
            )
        );
        let longer = format!("{text}warmup = \"0 ns\"\n");
        assert_eq!(
            said(["a", &longer], ["a", text]).as_deref(),
            Some(
                "has another experiment than rank 0: `warmup = \"0 ns\"`, not `nothing`, in [run]"
            )
        );
        assert_eq!(
            said(["a", text], ["a", &longer]).as_deref(),
            Some("has another experiment than rank 0: it lacks `warmup = \"0 ns\"`")
        );
        assert_eq!(
            said(["b", text], ["a", text]).as_deref(),
            Some("is b, rank 0 is a")
        );
    }
}
