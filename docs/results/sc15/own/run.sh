#!/usr/bin/env bash
# Figures of SC15 under another set of choices: input buffers of each link's own round trip, and sources under ECN that take a step in
# 1.2 us at most. Figure 9 is for the claims that end in -all, after 200 us.
#
#     docs/results/sc15/own/run.sh [OUT]
#
# from the root of the repository, with `weir` in PATH; half an hour of a core. Points that decide no claim are left out. The tables
# come with `weir sweep collect` of the same job file, --set and --out.
set -euo pipefail
out=${1:-out/sc15-own}
mkdir -p "$out/jobs"

# run FIGURE [OPTION…]: its job file with the step of ECN in it, run into a directory of that name.
run() {
  local figure=$1 job=$out/jobs/$1.toml
  sed 's/"congestion.scheme" = "ecn", "congestion.preset" = "jiang2015" }/"congestion.scheme" = "ecn", "congestion.preset" = "jiang2015", "congestion.min_interval" = "1.2 us" }/' \
    "jobs/sc15/$figure.toml" >"$job"
  shift
  weir sweep run "$job" -j 2 --out "$out/$figure" --set 'router.input_buffer="auto"' "$@"
}

run fig5 --set seeds=1 --set 'workload.0.endpoints={ count = 64, placement = "random", seed = 1 }' --points 0,8..16,23..61,68..75
run fig6
run fig6-long --points 5,6
run fig9 --set 'run.until="200 us"' --set 'run.warmup="120 us"' \
  --points 0..5,10..25,30..40,45..50,55..60,90..100,105..110,115..120,120..125,130..145,150..155
run fig11a --points 6,13,20,27
run fig11b
run fig13 --points 25..30,35..40,50..55,95..100,105..110,150..155,160..165,210..220
