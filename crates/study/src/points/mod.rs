//! The points of a study: one experiment for each combination of the values of its axes and each
//! seed. `grid` finds their places, and `expand` makes their experiments.

mod alone;
pub(crate) mod expand;
mod grid;

use super::job_file::Study;

/// One run of a study. Its experiment is made when it is asked for ([`Study::experiment`]): a study
/// may have a million points.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its place in the study, from 0.
    pub index: usize,
    /// The index of its value on each axis.
    pub at: Vec<usize>,
    /// Its seed.
    pub seed: u64,
    /// The name of its directory: a hash of the resolved experiment, the version of the result's
    /// schema and that of the model.
    pub hash: String,
    /// Role: a point of the study, or a run that such points are compared with.
    pub role: Role,
}

/// Purpose of a run of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// One of its points, a row of the table.
    Own {
        /// Jobs whose slowdown is asked for, and the place of the run in which each is alone.
        alone: Vec<(String, usize)>,
    },
    /// A job of some points alone. Its place on the axes is that of the first of them.
    Alone {
        /// The job.
        job: String,
        /// True for each axis on which they differ.
        varies: Vec<bool>,
    },
}

impl Point {
    /// `routing=minimal load=0.3`: the names of its axes and its labels there; the seed if there
    /// are several. For a job alone: the part that all points compared with it have in common.
    pub fn label(&self, study: &Study) -> String {
        let axes = study.axes.iter().enumerate();
        let axes = axes.filter_map(|(axis, own)| Some((own, self.value(study, axis)?)));
        let mut words: Vec<String> = axes
            .map(|(axis, label)| format!("{}={label}", axis.name))
            .collect();
        if study.seeds.as_ref().is_some_and(|seeds| seeds.len() > 1) || words.is_empty() {
            words.push(format!("seed={}", self.seed));
        }
        match &self.role {
            Role::Own { .. } => words.join(" "),
            Role::Alone { job, .. } => format!("{job} alone {}", words.join(" ")),
        }
    }

    /// The label of its value on an axis; None if it stands for several.
    pub fn value<'a>(&self, study: &'a Study, axis: usize) -> Option<&'a str> {
        let one = match &self.role {
            Role::Own { .. } => true,
            Role::Alone { varies, .. } => !varies[axis],
        };
        let value = &study.axes[axis].values[self.at[axis]];
        one.then_some(value.label.as_str())
    }

    /// True if it is a row of the table.
    pub fn is_own(&self) -> bool {
        matches!(self.role, Role::Own { .. })
    }
}
