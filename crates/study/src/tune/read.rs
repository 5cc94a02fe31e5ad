//! From a job file with `[tune]` to a search.

use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;

use serde_json::Value as Json;

use super::parameter::{Declared, Parameter, check_grid};
use super::search::{Setting, grid_for};
use super::{GRID_SHARE, MOST_RUNS, MOST_VALUES, MarkedFile, SECTION, Tune, TuneFile};
use crate::Metric;
use crate::job_file::criterion::Criterion;
use crate::job_file::figure::metric_at;
use crate::job_file::keys::{Options, ReducedFile};
use crate::job_file::needs::Unmet;
use crate::job_file::{list, read_seeds, title};
use weir_congestion::About;
use weir_input::Given;
use weir_input::registry::range::Range;
use weir_input::registry::{Variant, schema_json};
use weir_input::{ConfigError, suggest};
use weir_model::Invalid;
use weir_simulation::Plan;
use weir_simulation::config::{Catalog, Document, DriveConfig, Experiment};

/// Name of the mark with the values of the file.
const AS_GIVEN: &str = "as given";

impl Tune {
    /// Reads a job file, or an experiment.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line.
    pub fn read(path: &Path, options: &Options, catalog: &Catalog) -> Result<Tune, ConfigError> {
        let mut document = Document::read(path)?;
        document.check_names()?;
        for key in ["axis", "only", "exclude", "metrics", "figure", "claims"] {
            if let Some(given) = document.take(key) {
                let message = "an experiment whose parameters are searched has none of these";
                return Err(given.wrong(message, "remove it, or run the file with `weir sweep`"));
            }
        }
        let reduced = take_reduced(&mut document, path, options)?;
        options.sets.iter().try_for_each(|set| document.set(set))?;
        let title = title(&mut document, path)?;
        let smaller = |key: &str| reduced.as_ref().and_then(|given| given.get(key));
        let seeds = document.take("seeds");
        let seeds = smaller("seeds").or(seeds);
        let seeds = seeds
            .map(|given| read_seeds(&given, &document, &options.sets))
            .transpose()?;
        let criteria = list(&mut document, "criterion")?;
        let tune = match document.take("tune") {
            Some(given) => given,
            None => Given::of_text("{}")?,
        };
        let tune = match smaller("tune") {
            Some(over) => tune.overlaid(&over),
            None => tune,
        };
        let experiment = document.experiment(catalog)?;
        let plan = Plan::new(&experiment, None)?;
        let search = Ranges::new(&experiment, &plan)?;
        let criteria = match criteria.is_empty() {
            true => usual_criteria(&experiment)?,
            false => criteria,
        };
        let tune = search.tune(&tune, title, seeds, criteria, &experiment)?;
        tune.check_criteria(&experiment, &plan, reduced.is_some())?;
        Ok(tune)
    }

    /// Checks that criteria are valid, measure what is recorded, and compare with existing
    /// references. A search that is `reduced` may end before the times that they name.
    fn check_criteria(
        &self,
        experiment: &Experiment,
        plan: &Plan,
        reduced: bool,
    ) -> Result<(), ConfigError> {
        let enabled = experiment.workloads.iter().filter(|one| one.enabled);
        let jobs: Vec<String> = enabled.map(|one| one.name.clone()).collect();
        let mut names = HashSet::new();
        for given in &self.criteria {
            let criterion = match self.reference_of(given) {
                None => given.clone(),
                // Some number in its place.
                Some(_) => {
                    let metric = given.get("metric").unwrap_or_else(|| given.clone());
                    let name = metric.text().unwrap_or_default();
                    let unit = metric_at(&metric, name, &jobs)?.unit().to_string();
                    divided(given, 1.0, &unit)?
                }
            };
            let (criterion, needs) = Criterion::read(&criterion, &jobs)?;
            let mut unmet = Unmet::new(&needs, reduced);
            unmet.look(&[], experiment, plan);
            unmet.none_left()?;
            if !names.insert(criterion.name.clone()) {
                let message = format!("{:?} is given twice", criterion.name);
                return Err(given.refuse(Invalid::new("name", message, "give each its own name")));
            }
        }
        Ok(())
    }

    /// The reference that a criterion compares with.
    pub(super) fn reference_of(&self, criterion: &Given) -> Option<usize> {
        let of = criterion.get("of")?;
        let of = of.text()?;
        self.references.iter().position(|label| label == of)
    }
}

/// A criterion that divides by a number.
pub(super) fn divided(criterion: &Given, by: f64, unit: &str) -> Result<Given, ConfigError> {
    let number = match unit {
        "" => format!("{by:?}"),
        unit => format!("\"{by} {unit}\""),
    };
    let of = Given::of_text(&format!("{{ of = {number} }}"))?;
    Ok(criterion.overlaid(&of))
}

/// Takes `[reduced]` out of the document, and applies its values if that is asked for.
fn take_reduced(
    document: &mut Document,
    path: &Path,
    options: &Options,
) -> Result<Option<Given>, ConfigError> {
    let Some(given) = document.take("reduced") else {
        return match options.reduced {
            false => Ok(None),
            true => Err(ConfigError::new(
                format!("{} has no section [reduced]", path.display()),
                "add [reduced] with what makes the search small, or leave out --reduced",
            )),
        };
    };
    let _: ReducedFile = given.section().parse()?;
    if let Some(axis) = given.get("axis") {
        return Err(axis.wrong("there are no axes", "remove it"));
    }
    if !options.reduced {
        return Ok(None);
    }
    for (key, value) in given
        .get("set")
        .and_then(|set| set.members())
        .into_iter()
        .flatten()
    {
        document.place(&key, &value)?;
    }
    Ok(Some(given))
}

/// Number of jobs that have to run alone for each run of all, because their slowdown is a
/// criterion.
fn jobs_alone(criteria: &[Given], experiment: &Experiment) -> usize {
    let enabled = experiment.workloads.iter().filter(|one| one.enabled);
    let jobs: Vec<String> = enabled.map(|one| one.name.clone()).collect();
    let named = criteria
        .iter()
        .flat_map(|given| ["metric", "of"].map(|key| given.get(key)));
    let metrics: Vec<Metric> = named
        .flatten()
        .filter_map(|given| Metric::parse(given.text()?, &jobs).ok())
        .collect();
    let wanted = |job: &&String| {
        let mut slowdowns = metrics.iter().filter_map(Metric::slowdown);
        slowdowns.any(|one| one.needs(job))
    };
    match jobs.len() {
        // Alone it is already.
        1 => 0,
        _ => jobs.iter().filter(wanted).count(),
    }
}

/// Default criteria by workload: an early end of applications, arrival of traffic.
fn usual_criteria(experiment: &Experiment) -> Result<Vec<Given>, ConfigError> {
    let enabled = experiment.workloads.iter().filter(|one| one.enabled);
    let one = |workload: &weir_simulation::config::WorkloadConfig| {
        let name = &workload.name;
        Given::of_text(&match workload.drive {
            DriveConfig::Motif(_) => format!(
                "{{ name = \"finish-{name}\", metric = \"jobs.{name}.finish\", goal = \"min\" }}"
            ),
            DriveConfig::Pattern(_) => format!(
                "{{ name = \"accepted-{name}\", metric = \"jobs.{name}.accepted_load\", goal = \"max\" }}"
            ),
        })
    };
    enabled.map(one).collect()
}

/// A scheme with its declarations.
struct Ranges {
    variant: Variant,
    schema: Rc<Json>,
    ranges: Vec<(String, Range<String>)>,
    /// Parameters without effect, which are searched if they are named.
    idle: Vec<String>,
    about: About,
    /// Its section with all defaults.
    section: Option<Given>,
    resolved: String,
}

impl Ranges {
    fn new(experiment: &Experiment, plan: &Plan) -> Result<Ranges, ConfigError> {
        let variant = experiment.congestion.variant.described();
        let ranges = variant.ranges();
        let idle = plan.scheme.useless();
        let numbers = |(_, range): &(String, Range<String>)| matches!(range, Range::Numbers { .. });
        if !ranges.iter().any(numbers) {
            let message = format!("the scheme {:?} has no parameters to search", variant.name);
            let remedy = "choose another one (see `weir list schemes`)";
            return Err(experiment
                .congestion
                .refuse(Invalid::new("scheme", message, remedy)));
        }
        let resolved = experiment.resolved.clone();
        let mut whole = Document::parse("the experiment", &resolved, Path::new(""))?;
        Ok(Ranges {
            schema: schema_json(variant.parameters),
            ranges,
            idle: idle.into_iter().map(|one| one.key).collect(),
            about: plan.network().about,
            section: whole.take(SECTION),
            resolved,
            variant,
        })
    }

    /// Declaration of a key by the scheme; `at` is where that is named.
    fn declared(&self, at: &Given, key: &str) -> Result<Declared<'_>, ConfigError> {
        let properties = self.schema["properties"].as_object();
        let schema = properties.and_then(|all| all.get(key));
        let schema = schema.ok_or_else(|| {
            let names = properties
                .into_iter()
                .flat_map(|all| all.keys().map(String::as_str));
            let names: Vec<&str> = names.collect();
            let message = format!(
                "the scheme {:?} has no parameter `{key}`",
                self.variant.name
            );
            at.wrong(message, suggest(key, "parameters", &names, '`'))
        })?;
        let range = self.ranges.iter().find(|(own, _)| own == key);
        let range = range.map(|(_, range)| range);
        Ok(Declared { range, schema })
    }

    /// The parameters that are searched, and the names of others that could be.
    fn parameters(
        &self,
        given: &Given,
        room: usize,
    ) -> Result<(Vec<Parameter>, Vec<String>), ConfigError> {
        let Some(asked) = given.get("parameters") else {
            return Ok(self.first_parameters(given, room));
        };
        let how = "write parameters = [\"NAME\", { key = \"NAME\", from = …, to = … }]";
        let items = asked.items().filter(|items| !items.is_empty());
        let items = items.ok_or_else(|| asked.wrong("this names no parameters", how))?;
        let mut all: Vec<Parameter> = Vec::new();
        for item in items {
            let parameter = Parameter::read(&item, &self.about, |at, key| self.declared(at, key))?;
            if all.iter().any(|own| own.key == parameter.key) {
                let message = format!("`{}` is given twice", parameter.key);
                return Err(item.wrong(message, "remove one of the two"));
            }
            all.push(parameter);
        }
        Ok((all, Vec::new()))
    }

    /// The first parameters: the largest number that there is room for with three values each, one
    /// at least.
    fn first_parameters(&self, given: &Given, room: usize) -> (Vec<Parameter>, Vec<String>) {
        let acting = (self.ranges.iter()).filter(|(key, _)| !self.idle.contains(key));
        let declared = acting.filter_map(|(key, _)| {
            let declared = self.declared(given, key).ok()?;
            Parameter::declared(key, &declared, &self.about)
        });
        let mut all: Vec<Parameter> = declared.collect();
        let room = (room as f64 * GRID_SHARE) as usize;
        let fits = |count: &usize| 3usize.checked_pow(*count as u32).is_some_and(|n| n <= room);
        let count = (1..=all.len()).take_while(fits).last().unwrap_or(1);
        let rest = all.split_off(count.min(all.len()));
        (all, rest.into_iter().map(|one| one.key).collect())
    }

    /// Settings that have names, and that of the file if it gives all parameters.
    fn marks(
        &self,
        given: &Given,
        parameters: &[Parameter],
    ) -> Result<Vec<(String, Setting)>, ConfigError> {
        let items = given
            .get("mark")
            .and_then(|given| given.items())
            .unwrap_or_default();
        let mut marks: Vec<(String, Setting)> = Vec::new();
        for item in items {
            let file: MarkedFile = item.section().parse()?;
            let preset = file
                .preset
                .map(|name| self.preset(&item, &name))
                .transpose()?;
            let set = item.get("set");
            for (key, value) in set.iter().filter_map(Given::members).flatten() {
                if parameters.iter().all(|own| own.key != key) {
                    let message = format!("`{key}` is none of the parameters that are searched");
                    return Err(value.wrong(message, "remove it, or add it to `parameters`"));
                }
            }
            let sources = [set, preset, self.section.clone()];
            let value = |parameter: &Parameter| {
                let value = sources
                    .iter()
                    .flatten()
                    .find_map(|own| own.get(&parameter.key));
                let value = value.ok_or_else(|| {
                    let message = format!("nothing says where `{}` is", parameter.key);
                    item.wrong(message, format!("add set = {{ {} = … }}", parameter.key))
                })?;
                parameter.given(&value, &self.about)
            };
            let setting = parameters.iter().map(value).collect::<Result<_, _>>()?;
            if marks.iter().any(|(own, _)| *own == file.label) {
                let message = format!("the mark {:?} is given twice", file.label);
                return Err(item.wrong(message, "give each its own label"));
            }
            marks.push((file.label, setting));
        }
        let own = parameters.iter().map(|parameter| {
            let value = self.section.as_ref()?.get(&parameter.key)?;
            parameter.given(&value, &self.about).ok()
        });
        if let Some(setting) = own.collect::<Option<Setting>>()
            && marks.iter().all(|(_, own)| *own != setting)
        {
            marks.push((AS_GIVEN.to_string(), setting));
        }
        Ok(marks)
    }

    /// The values of a preset.
    fn preset(&self, at: &Given, name: &str) -> Result<Given, ConfigError> {
        let presets = self.variant.presets();
        match presets.iter().find(|one| one.name == name) {
            Some(one) => Given::of_text(&format!("{{ {} }}", one.values)),
            None => {
                let names: Vec<&str> = presets.iter().map(|one| one.name.as_str()).collect();
                let message = format!("{name:?} is not known");
                let remedy = suggest(name, "presets", &names, '"');
                Err(at.refuse(Invalid::new("preset", message, remedy)))
            }
        }
    }

    fn tune(
        &self,
        given: &Given,
        title: String,
        seeds: Option<Vec<u64>>,
        criteria: Vec<Given>,
        experiment: &Experiment,
    ) -> Result<Tune, ConfigError> {
        let file: TuneFile = given.section().parse()?;
        if file.runs > MOST_RUNS {
            return Err(given.refuse(Invalid::new(
                "runs",
                format!("{} runs are too many for a search", file.runs),
                format!("allow at most {MOST_RUNS}, or write a job file with axes"),
            )));
        }
        check_grid(file.grid, given)?;
        let references = file.reference.iter().flatten().map(|one| one.label.clone());
        let references: Vec<String> = references.collect();
        let alone = jobs_alone(&criteria, experiment);
        let each = seeds.as_ref().map_or(1, Vec::len) * (1 + alone);
        let room = (file.runs as usize / each).saturating_sub(references.len());
        let (mut parameters, left_out) = self.parameters(given, room)?;
        for parameter in &mut parameters {
            parameter.grid = parameter.grid.or(file.grid);
        }
        let marks = self.marks(given, &parameters)?;
        let room = room.saturating_sub(marks.len());
        // A grid that is asked for may take all of the runs.
        let room = match parameters.iter().all(|one| one.grid.is_some()) {
            true => room,
            false => (room as f64 * GRID_SHARE) as usize,
        };
        let grid = grid_for(&parameters, room, MOST_VALUES).ok_or_else(|| {
            let names: Vec<&str> = parameters.iter().map(|one| one.key.as_str()).collect();
            given.refuse(Invalid::new(
                "runs",
                format!(
                    "{} runs are not enough for a grid over {}",
                    file.runs,
                    names.join(", ")
                ),
                "allow more runs, or search fewer `parameters`",
            ))
        })?;
        let reference_sets = given.get("reference").and_then(|given| given.items());
        Ok(Tune {
            title,
            scheme: self.variant.name.to_string(),
            map: map(given, &file, &parameters)?,
            left_out,
            parameters,
            runs: file.runs,
            grid,
            marks,
            references,
            alone,
            seeds,
            reference_sets: reference_sets.unwrap_or_default(),
            criteria,
            base: Document::parse("the experiment", &experiment.resolved, Path::new(""))?,
            resolved: self.resolved.clone(),
        })
    }
}

/// The places of the two parameters of the map.
fn map(
    given: &Given,
    file: &TuneFile,
    parameters: &[Parameter],
) -> Result<Option<[usize; 2]>, ConfigError> {
    let Some(names) = &file.map else {
        return Ok((parameters.len() > 1).then_some([0, 1]));
    };
    let place = |name: &String| {
        let place = parameters.iter().position(|own| own.key == *name);
        place.ok_or_else(|| {
            let known: Vec<&str> = parameters.iter().map(|own| own.key.as_str()).collect();
            let message = format!("`{name}` is none of the parameters that are searched");
            let remedy = suggest(name, "parameters", &known, '`');
            given.refuse(Invalid::new("map", message, remedy))
        })
    };
    match [place(&names[0])?, place(&names[1])?] {
        [x, y] if x == y => {
            let message = "a map lies over two parameters";
            Err(given.refuse(Invalid::new("map", message, "name another one")))
        }
        places => Ok(Some(places)),
    }
}
