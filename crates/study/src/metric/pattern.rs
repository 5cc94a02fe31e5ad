//! Parts of the names of metrics; several jobs by one name: `lammps-*`.

use super::NotAMetric;
use weir_input::suggest;

/// True if a pattern matches a name: a `*` stands for any text.
pub fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let inner = name.strip_prefix(head);
    let Some(mut inner) = inner.and_then(|inner| inner.strip_suffix(tail)) else {
        return false;
    };
    // If the parts are there at all, they are so where each stands first.
    middle.split('*').all(|part| match inner.split_once(part) {
        Some((_, after)) => {
            inner = after;
            true
        }
        None => false,
    })
}

/// The jobs that a pattern, or a name, means: at least one.
pub fn chosen<'a>(pattern: &str, jobs: &'a [String]) -> Result<Vec<&'a str>, NotAMetric> {
    let all = || jobs.iter().map(String::as_str);
    let found: Vec<&str> = all().filter(|job| fits(pattern, job)).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let names: Vec<&str> = all().collect();
    Err(NotAMetric {
        message: format!("there is no workload called {pattern:?}"),
        remedy: suggest(pattern, "names", &names, '`'),
    })
}

/// The names of the drawn rows, one for each job that a pattern in `name` matches; `name` itself if
/// there is no pattern in it.
pub fn each(name: &str, jobs: &[String]) -> Result<Vec<String>, NotAMetric> {
    let parts: Vec<&str> = name.split('.').collect();
    let Some(at) = parts.iter().position(|part| part.contains('*')) else {
        return Ok(vec![name.to_string()]);
    };
    let named = chosen(parts[at], jobs)?.into_iter().map(|job| {
        let mut parts = parts.clone();
        parts[at] = job;
        parts.join(".")
    });
    Ok(named.collect())
}

/// Refusal of a part of a name, which is none of the valid ones.
pub(super) fn unknown(name: &str, part: &str, what: &str, valid: &[&str]) -> NotAMetric {
    let remedy = match valid {
        [] => "the list of metrics is in docs/job-file.md".to_string(),
        valid => suggest(part, what, valid, '`'),
    };
    NotAMetric {
        message: format!("there is no metric {name:?}"),
        remedy,
    }
}

pub(super) fn split<'a>(name: &str, rest: &'a str) -> Result<(&'a str, &'a str), NotAMetric> {
    rest.split_once('.')
        .ok_or_else(|| unknown(name, "", "", &[]))
}

/// A single job.
pub(super) fn known_job(job: &str, jobs: &[String]) -> Result<(), NotAMetric> {
    if job.contains('*') {
        return Err(NotAMetric {
            message: format!("{job:?} are several workloads"),
            remedy: "name one; `jobs.lammps-*.communication.max` and `iterations.lammps-*.0.time` \
                     make one number of several"
                .into(),
        });
    }
    chosen(job, jobs).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, fit) in [
            ("md", "md", true),
            ("md", "md-0", false),
            ("md-*", "md-0", true),
            ("md-*", "md-", true),
            ("md-*", "md", false),
            ("*", "anything", true),
            ("*", "", true),
            ("*-1*", "storm-10", true),
            ("*-1*", "storm-20", false),
            ("*m-*0", "storm-10", true),
            ("*m-*0", "storm-11", false),
            ("a*a", "a", false),
            ("a**b*", "a-b", true),
            (&format!("{}b", "*a".repeat(26)), &"a".repeat(64), false),
        ] {
            assert_eq!(fits(pattern, name), fit, "{pattern} {name}");
        }
    }

    #[test]
    fn one_name_for_each_job() {
        let jobs = ["md-0", "storm-0", "storm-1"].map(str::to_string);
        let each = |name| each(name, &jobs).map_err(|error| error.remedy);
        assert_eq!(
            each("latency.job.storm-*.network"),
            Ok(vec![
                "latency.job.storm-0.network".to_string(),
                "latency.job.storm-1.network".to_string()
            ])
        );
        assert_eq!(each("ports.local"), Ok(vec!["ports.local".to_string()]));
        let error = each("jobs.strom-*.finish").expect_err("nobody");
        assert!(error.contains("storm-0"), "{error}");
    }
}
