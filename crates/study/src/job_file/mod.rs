//! A job file, checked: a study, and its sections beside those of an experiment.

pub(crate) mod axis;
pub(crate) mod bound;
pub(crate) mod claim;
pub(crate) mod criterion;
mod drawing;
pub(crate) mod figure;
pub(crate) mod keys;
pub(crate) mod needs;
mod owners;
pub(crate) mod selection;
pub(crate) mod trend;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::metric::Metric;
use super::metric::names::SCORE;
use axis::Axis;
use claim::Claim;
use criterion::Criterion;
use figure::{Figure, metrics_at};
use keys::{Options, ReducedFile, Scale};
use needs::Need;
use owners::{Owners, key_of};
use selection::{Selection, axis_named};
use weir_input::Given;
use weir_input::{ConfigError, suggest};
use weir_model::Invalid;
use weir_simulation::config::{Document, element_names};

/// The section of the smaller form.
const REDUCED: &str = "reduced";

/// Path of the key of the seed.
pub(super) const SEED: &str = "run.seed";

/// A job file: an experiment, its axes, and its figures and claims.
#[derive(Clone, Debug)]
pub struct Study {
    /// The job file as it was named.
    pub path: PathBuf,
    /// Its title; the name of the file by default.
    pub title: String,
    /// Axes along which points differ; none for a study of one point.
    pub axes: Vec<Axis>,
    /// The seeds of every combination; None: the experiment's own.
    pub seeds: Option<Vec<u64>>,
    /// Figures that `weir report` draws.
    pub figures: Vec<Figure>,
    /// Claims that the table must meet, at this scale or at any.
    pub claims: Vec<Claim>,
    /// Changes from the command line.
    pub options: Options,
    /// True if it has a smaller form beside that of the paper.
    pub has_scales: bool,
    /// The combinations that are run; None: all that are not excluded.
    pub(super) only: Option<Vec<(Selection, Given)>>,
    pub(super) excluded: Vec<(Selection, Given)>,
    /// Additional columns of the table.
    pub(super) columns: Vec<Metric>,
    /// Criteria by which points are ranked.
    pub(super) criteria: Vec<Criterion>,
    /// Requirements of figures and claims on the results.
    pub(super) needs: Vec<Need>,
    /// The experiment, without the keys of the study.
    pub(super) base: Document,
}

impl Study {
    /// Reads a job file. Its experiment is checked with the points.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line.
    pub fn read(path: &Path, options: &Options) -> Result<Study, ConfigError> {
        Study::of(Document::read(path)?, path, options)
    }

    /// A job file from a text; for files below `folder`.
    ///
    /// # Errors
    /// As for [`Study::read`].
    pub fn parse(text: &str, folder: &Path, options: &Options) -> Result<Study, ConfigError> {
        let path = folder.join("job.toml");
        let document = Document::parse(&path.display().to_string(), text, folder)?;
        Study::of(document, &path, options)
    }

    pub(super) fn of(
        mut document: Document,
        path: &Path,
        options: &Options,
    ) -> Result<Study, ConfigError> {
        document.check_names()?;
        if let Some(tune) = document.take("tune") {
            return Err(tune.wrong(
                "the parameters of this experiment are searched, which a sweep does not do",
                "`weir tune FILE --out DIR` does",
            ));
        }
        let has_scales = document.has(REDUCED);
        let reduced = take_reduced(&mut document, path, options)?;
        options.sets.iter().try_for_each(|set| document.set(set))?;
        let title = title(&mut document, path)?;
        let [axes, only, excludes, criteria, figures, claims] =
            ["axis", "only", "exclude", "criterion", "figure", "claims"]
                .map(|key| list(&mut document, key));
        let mut axes = read_axes(&axes?, options)?;
        let whole = axes.clone();
        let seeds = document.take("seeds");
        let given = reduced.as_ref().map(|reduced| &reduced.given);
        let seeds = given.and_then(|given| given.get("seeds")).or(seeds);
        let seeds = seeds
            .map(|given| read_seeds(&given, &document, &options.sets))
            .transpose()?;
        if let Some(reduced) = &reduced {
            reduced.keep(&mut axes)?;
        }
        let workloads = &document.workload_sections();
        Owners::new(&axes, workloads).check(options, given)?;
        let jobs = jobs(&document, &axes);
        Owners::new(&axes, workloads).no_metric(&jobs)?;
        let (columns, wanted) = columns(&mut document, &jobs)?;
        // The smaller study may lack values that exclusions and figures of the whole one name.
        let within = |given: &Given| {
            let selection = Selection::read(given, &whole)?.within(&whole, &axes);
            Ok(selection.map(|selection| (selection, given.clone())))
        };
        let excluded = each(&excludes?, within)?.into_iter().flatten().collect();
        let only = only?;
        let some = !only.is_empty();
        let only: Vec<_> = each(&only, within)?.into_iter().flatten().collect();
        let criteria = criteria?;
        let read = each(&criteria, |given| Criterion::read(given, &jobs))?;
        unique_ids(
            "name",
            read.iter().map(|(one, _)| one.name.as_str()).zip(&criteria),
        )?;
        let (criteria, ranked): (Vec<Criterion>, Vec<Vec<Need>>) = read.into_iter().unzip();
        let read = |given: &Given| match Figure::read(given, &axes, &jobs) {
            Err(_) if reduced.is_some() => Figure::read(given, &whole, &jobs).map(|_| None),
            read => read.map(Some),
        };
        let (figures, needs) = read_figures(&figures?, read)?;
        let mut needs = needs.concat();
        let scale = scale(options);
        let claims = each(&claims?, |given| {
            // A claim of the other scale may name values that are not there.
            match other_scale(given, scale) {
                true => Ok(None),
                false => Claim::read(given, &axes, &jobs).map(|read| Some((read, given.clone()))),
            }
        })?;
        let claims: Vec<_> = claims.into_iter().flatten().collect();
        let ids = (claims.iter()).map(|((claim, _), given)| (claim.id.as_str(), given));
        unique_ids("id", ids)?;
        let (claims, own): (Vec<Claim>, Vec<Vec<Need>>) =
            claims.into_iter().map(|(read, _)| read).unzip();
        needs.extend(own.concat());
        needs.extend(ranked.concat());
        needs.extend(wanted);
        let study = Study {
            path: path.to_path_buf(),
            title,
            axes,
            seeds,
            figures,
            claims,
            options: options.clone(),
            has_scales,
            only: some.then_some(only),
            excluded,
            columns,
            criteria,
            needs,
            base: document,
        };
        study.scores_are_there()?;
        Ok(study)
    }

    /// Checks that the scores and criteria named in figures and claims exist.
    fn scores_are_there(&self) -> Result<(), ConfigError> {
        let own: Vec<Metric> = self.criteria.iter().map(Criterion::column).collect();
        let mut names: Vec<&str> = own.iter().map(Metric::name).collect();
        if !names.is_empty() {
            names.push(SCORE);
        }
        let metrics = self.metrics();
        let wanted = metrics.iter().filter(|metric| metric.is_derived());
        let mut missing = wanted.filter(|metric| !names.contains(&metric.name()));
        missing.next().map_or(Ok(()), |metric| {
            let remedy = match names.as_slice() {
                [] => "add a [[criterion]]".to_string(),
                names => suggest(metric.name(), "names", names, '`'),
            };
            let message = format!("{:?} is no criterion of this study", metric.name());
            let place = self.needs.iter().find(|need| need.name == metric.name());
            Err(match place {
                Some(need) => need.at.wrong(message, remedy),
                None => ConfigError::new(message, remedy),
            })
        })
    }

    /// The texts of the files that the job file names, as far as points that name them were read.
    pub fn inputs(&self) -> BTreeMap<String, String> {
        self.base.inputs()
    }

    /// The text of the job file as it was read.
    pub fn text(&self) -> &str {
        self.base.text()
    }

    /// The scale at which it is run.
    pub fn scale(&self) -> Scale {
        scale(&self.options)
    }

    /// The metrics that the study asks for, and the metrics that its figures, claims and criteria
    /// need: each once, in the order of the file.
    pub fn metrics(&self) -> Vec<Metric> {
        let figures = self.figures.iter().flat_map(Figure::metrics);
        let claims = self.claims.iter().flat_map(Claim::metrics);
        let criteria = self.criteria.iter().flat_map(Criterion::metrics);
        let mut seen = HashSet::new();
        (self.columns.iter())
            .chain(figures)
            .chain(claims)
            .chain(criteria)
            .filter(|metric| seen.insert(metric.name().to_string()))
            .cloned()
            .collect()
    }
}

fn scale(options: &Options) -> Scale {
    match options.reduced {
        true => Scale::Reduced,
        false => Scale::Paper,
    }
}

fn other_scale(claim: &Given, scale: Scale) -> bool {
    let given = claim.get("scale");
    let text = given.as_ref().and_then(Given::text);
    let known = [Scale::Paper.name(), Scale::Reduced.name()];
    text.is_some_and(|text| known.contains(&text) && text != scale.name())
}

pub(super) fn title(document: &mut Document, path: &Path) -> Result<String, ConfigError> {
    let Some(given) = document.take("title") else {
        let name = path.file_stem().unwrap_or_default();
        return Ok(name.to_string_lossy().into_owned());
    };
    let text = given.text().map(str::to_string);
    text.ok_or_else(|| given.wrong("expected a text", "write title = \"…\""))
}

/// The tables of `[[key]]`.
pub(super) fn list(document: &mut Document, key: &str) -> Result<Vec<Given>, ConfigError> {
    let Some(given) = document.take(key) else {
        return Ok(Vec::new());
    };
    given.items().ok_or_else(|| {
        given.wrong(
            format!("expected a list, got {}", given.type_name()),
            format!("write [[{key}]] and its keys on the lines below"),
        )
    })
}

/// The metrics of `metrics = [ … ]`, and their requirements on the results.
fn columns(
    document: &mut Document,
    jobs: &[String],
) -> Result<(Vec<Metric>, Vec<Need>), ConfigError> {
    let how = "write metrics = [\"slowdown.md\", \"jobs.md.communication\"]";
    let Some(given) = document.take("metrics") else {
        return Ok((Vec::new(), Vec::new()));
    };
    let items = given.items();
    let items = items.ok_or_else(|| given.wrong("expected a list of names", how))?;
    let mut columns = Vec::new();
    let mut needs = Vec::new();
    for item in items {
        let name = item
            .text()
            .ok_or_else(|| item.wrong("expected a name in quotes", how))?;
        for metric in metrics_at(&item, name, jobs)? {
            needs.push(Need::metric(&item, &metric, &Selection::default()));
            columns.push(metric);
        }
    }
    Ok((columns, needs))
}

fn each<T>(
    given: &[Given],
    read: impl Fn(&Given) -> Result<T, ConfigError>,
) -> Result<Vec<T>, ConfigError> {
    given.iter().map(read).collect()
}

/// The axes, each with the time from which it holds.
fn read_axes(given: &[Given], options: &Options) -> Result<Vec<Axis>, ConfigError> {
    let mut axes = each(given, Axis::read)?;
    if let Some(at) = &options.fork_at {
        let at = Given::of_text(&format!("{at:?}"))?;
        for axis in &mut axes {
            axis.fork_at.get_or_insert_with(|| at.clone());
        }
    }
    Ok(axes)
}

/// The figures that are not left out, and the requirements of each.
fn read_figures(
    given: &[Given],
    read: impl Fn(&Given) -> Result<Option<(Figure, Vec<Need>)>, ConfigError>,
) -> Result<(Vec<Figure>, Vec<Vec<Need>>), ConfigError> {
    let all = each(given, read)?;
    let drawn = all.iter().zip(given);
    let ids = drawn.filter_map(|(read, given)| Some((read.as_ref()?.0.id.as_str(), given)));
    unique_ids("id", ids)?;
    Ok(all.into_iter().flatten().unzip())
}

fn unique_ids<'a>(
    key: &str,
    ids: impl Iterator<Item = (&'a str, &'a Given)>,
) -> Result<(), ConfigError> {
    let mut seen = HashSet::new();
    for (id, given) in ids {
        if !seen.insert(id) {
            return Err(given.refuse(Invalid::new(
                key,
                format!("{id:?} is given twice"),
                "give each its own name",
            )));
        }
    }
    Ok(())
}

/// The seeds. If they are listed, none of `sets` gives another.
pub(super) fn read_seeds(
    given: &Given,
    document: &Document,
    sets: &[String],
) -> Result<Vec<u64>, ConfigError> {
    const HOW: &str = "write a number of seeds, or a list of seeds";
    if let Some(count) = given.whole() {
        if !(1..=100_000).contains(&count) {
            return Err(given.wrong(format!("{count} seeds"), HOW));
        }
        let first = document.whole_number(SEED).unwrap_or(1);
        return Ok((first..first + count as u64).collect());
    }
    if let Some(set) = sets.iter().find(|set| key_of(set) == SEED) {
        let message = format!("the seeds are listed here, so --set {set} changes nothing");
        return Err(given.wrong(message, "leave it out"));
    }
    let items = given.items().unwrap_or_default();
    let seeds: Option<Vec<u64>> = items
        .iter()
        .map(|item| u64::try_from(item.whole()?).ok())
        .collect();
    let seeds = seeds.filter(|seeds| !seeds.is_empty());
    let seeds = seeds.ok_or_else(|| given.wrong("this says no seeds", HOW))?;
    let mut seen = HashSet::new();
    match seeds.iter().find(|seed| !seen.insert(**seed)) {
        Some(seed) => Err(given.wrong(format!("the seed {seed} is given twice"), HOW)),
        None => Ok(seeds),
    }
}

/// The names of all workloads that points may have.
fn jobs(document: &Document, axes: &[Axis]) -> Vec<String> {
    let mut names = document.workload_names();
    let values = axes.iter().flat_map(|axis| &axis.values);
    for (key, given) in values.flat_map(|value| &value.sets) {
        if key == "workload" {
            names.extend(element_names(given));
        } else if key.starts_with("workload.") && key.ends_with(".name") {
            names.extend(given.text().map(str::to_string));
        } else if let Some(workload) = copied(key) {
            let count = given.whole().and_then(|count| u64::try_from(count).ok());
            names.extend(document.copies_of(workload, count.unwrap_or(0)));
        }
    }
    names
}

/// The workload whose number of copies a key sets.
fn copied(key: &str) -> Option<&str> {
    key.strip_prefix("workload.")?.strip_suffix(".copies")
}

struct Reduced {
    given: Given,
}

/// Takes `[reduced]` out of the document, and applies its values if that is asked for.
fn take_reduced(
    document: &mut Document,
    path: &Path,
    options: &Options,
) -> Result<Option<Reduced>, ConfigError> {
    let Some(given) = document.take(REDUCED) else {
        if options.reduced {
            return Err(ConfigError::new(
                format!("{} has no section [reduced]", path.display()),
                "add [reduced] with what makes the study small, or leave out --reduced",
            ));
        }
        return Ok(None);
    };
    let _: ReducedFile = given.section().parse()?;
    if let Some(tune) = given.get("tune") {
        return Err(tune.wrong("there is no section [tune]", "remove it"));
    }
    if !options.reduced {
        return Ok(None);
    }
    if let Some(set) = given.get("set") {
        let members = set.members().ok_or_else(|| {
            set.wrong("expected a table", "write set = { \"run.until\" = \"…\" }")
        })?;
        for (key, value) in members {
            document.place(&key, &value)?;
        }
    }
    Ok(Some(Reduced { given }))
}

impl Reduced {
    /// Leaves the values of axes that the section names.
    fn keep(&self, axes: &mut [Axis]) -> Result<(), ConfigError> {
        let Some(table) = self.given.get("axis") else {
            return Ok(());
        };
        let members = table
            .members()
            .ok_or_else(|| table.wrong("expected a table", "write axis = { name = [ … ] }"))?;
        for (name, given) in members {
            let axis = axis_named(&given, axes, &name)?;
            let values = given.items().unwrap_or_else(|| vec![given.clone()]);
            if values.is_empty() {
                return Err(given.wrong("no value is kept", "name at least one"));
            }
            let kept = values.iter().map(|value| axes[axis].find(value));
            let kept = kept.collect::<Result<Vec<_>, _>>()?;
            axes[axis].keep(&kept);
        }
        Ok(())
    }
}
