//! Runs, however they end, and what their results say.

mod cut_off;
mod damage;
mod estimates;
mod explain;
mod missing;
mod out_dir;
mod records;
mod restart;
mod warnings;
