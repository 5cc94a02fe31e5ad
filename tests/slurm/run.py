"""Submits studies to a Slurm of one node that it starts and stops itself (cluster.py), and compares with runs without Slurm.

usage: run.py weir directory

The directory gets what the studies write. Where Slurm cannot be started (no root, not installed) this says so and ends with 0;
with WEIR_NEEDS_SLURM=1 that is a failure.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster import Cluster, why_not  # noqa: E402

PROJECT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
STUDY = os.path.join(PROJECT, "tests", "slurm", "study.toml")
POINTS, FAILING = 6, 5
# Some seconds on any machine, so that it can be met while it runs; and more than any test lasts.
SECONDS, FOREVER = ["--reduced", "--set", "run.until=12 ms"], ["--set", "run.until=100 s"]
MANY_RANKS = 3


def check(holds, what):
    if not holds:
        raise AssertionError(what)
    print(f"  {what[:150]}")


def section(what):
    print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Tester:
    """The program, in a cluster; every study has a directory of its own below `out`."""

    def __init__(self, weir, out, cluster):
        self.program, self.out, self.cluster = weir, out, cluster
        extra = {"WEIR": weir, "HDF5_USE_FILE_LOCKING": "FALSE"}
        extra |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        # More ranks than cores.
        extra |= {"OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
        cluster.environment.update(extra)

    def dir(self, name):
        return os.path.join(self.out, name)

    def sweep(self, command, name, *options, code=0, file=STUDY):
        """`weir sweep`; its standard output and error. Slurm's environment is that of the cluster."""
        words = [self.program, "sweep", command, file, "--out", self.dir(name), *options]
        done = self.cluster.run(*words, check=False, cwd=PROJECT)
        if done.returncode != code:
            raise AssertionError(f"{words}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
        return done.stdout, done.stderr

    def submit(self, name, *options, file=STUDY):
        return json.loads(self.sweep("submit", name, "--json", *options, file=file)[0])

    def status(self, name, *options):
        return json.loads(self.sweep("status", name, "--json", *options)[0])

    def table(self, name):
        return text_of(os.path.join(self.dir(name), "table.csv"))

    def logs(self, submitted, pattern):
        folder = submitted["folder"]
        names = sorted(name for name in os.listdir(folder) if pattern in name and name.endswith(".log"))
        return "".join(text_of(os.path.join(folder, name)) for name in names)

    def ended(self, job):
        """Whether Slurm has no task of this job any more."""
        return not any(one.split("_")[0] == str(job) for one in self.cluster.jobs())

    def wait_for(self, *submissions):
        jobs = [array["job"] for one in submissions for array in one["arrays"]]
        jobs += [one["collect"] for one in submissions]
        self.cluster.wait_for(lambda: all(self.ended(job) for job in jobs), f"the jobs {jobs} to end", 120)

    def slurm_says(self, job, key):
        """A value of `scontrol show job`."""
        words = self.cluster.run("scontrol", "show", "job", str(job)).stdout.split()
        return next(word.split("=", 1)[1] for word in words if word.startswith(f"{key}="))


def refusals(tester):
    section("bad input is refused, and leaves nothing behind")
    wrong = [
        (["--partition", "nowhere"], "nowhere"),
        (["--sbatch-option=mem=2G"], "dashes"),
        (["--sbatch-option=--array=0-3"], "--max-running"),
        (["--ranks-per-point", "10"], "9 domains"),
        (["--launcher", "mpirun", "--ranks-per-point", "0"], "--ranks-per-point"),
        (["--points-per-task", "0"], "--points-per-task"),
        (["--dependency", "after noon"], "afterok:"),
    ]
    for options, words in wrong:
        _, error = tester.sweep("submit", "refused", *options, code=2)
        check(words in error, f"{' '.join(options)}: {error.strip().splitlines()[0]}")
        check(not tester.cluster.jobs(), "no job")
        left = os.path.join(tester.dir("refused"), "slurm")
        check(not os.path.exists(left) or not os.listdir(left), "no script")
    tester.sweep("submit", "refused", code=2, file=os.path.join(tester.out, "missing.toml"))
    environment = tester.cluster.environment
    tester.cluster.environment = environment | {"PATH": "/nonexistent"}
    _, error = tester.sweep("submit", "refused", code=2)
    tester.cluster.environment = environment
    check("scontrol cannot be started" in error and "help:" in error, error.strip())


def dry_run(tester):
    section("a dry run prints the scripts and does nothing")
    text, told = tester.sweep("submit", "dry", "--dry-run", "--points-per-task", "2", "--time", "5", "--account=a b")
    for line in ("#SBATCH --array=0-2\n", "#SBATCH --time=5\n", '#SBATCH "--account=a b"\n', "  2..4\n", "sweep collect"):
        check(line in text, f"in the script: {line.strip()}")
    check("nothing was submitted" in told and not tester.cluster.jobs(), told.strip())
    check(not os.path.exists(tester.dir("dry")), "no directory")


def whole_study(tester):
    """More tasks than an array may have; held, so that a second submission finds them waiting. Returns the submission."""
    section("a study is submitted once")
    # A name that a batch script and a file name pattern of Slurm need care with.
    name = "it's 100% \"here\""
    submitted = tester.submit(name, "--partition=other", "--time=10", "--sbatch-option=--hold")
    sizes = [len(array["tasks"]) for array in submitted["arrays"]]
    check(sizes == [5, 1], f"MaxArraySize is 5, so the arrays have {sizes} tasks")
    _, error = tester.sweep("submit", name, code=2)
    check("6 submitted before" in error, error.strip().splitlines()[0])
    job = submitted["arrays"][0]["job"]
    check(tester.slurm_says(job, "Partition") == "other", "in the partition that was asked for")
    check(tester.slurm_says(job, "TimeLimit") == "00:10:00", "with the time that was asked for")
    check(tester.slurm_says(job, "Requeue") == "1", "to be requeued")
    ids = [array["job"] for array in submitted["arrays"]] + [submitted["collect"]]
    tester.cluster.run("scontrol", "release", *map(str, ids))
    return name, submitted


def whole_study_ended(tester, name, submitted):
    section("the same table as without Slurm; a point that fails is told with its reason")
    tester.wait_for(submitted)
    check(tester.table(name) == tester.table("local"), "table.csv of the collecting job is that of weir sweep run")
    status = tester.status(name)
    check((status["done"], status["failed"]) == (POINTS - 1, 1), f"{status['done']} done, {status['failed']} failed")
    failure = status["failures"][0]
    check((failure["point"], failure["reason"]) == (FAILING, "stalled"), f"point {FAILING} failed: {failure['reason']}")
    failing = submitted["arrays"][1]["job"]
    check(tester.slurm_says(failing, "ExitCode") == "1:0", "Slurm knows of it too: exit code 1")
    log = tester.logs(submitted, "collect-")
    check(f"{POINTS - 1} of {POINTS} points" in log and "1 of 1 claims hold" in log, "the last job has checked the claims")
    _, error = tester.sweep("submit", name, code=2)
    check("5 done, 1 failed" in error and "--retry" in error, error.strip().splitlines()[0])
    again = tester.submit(name, "--retry")
    check(again["points"] == 1, "--retry submits the failed point")
    tester.wait_for(again)
    check(tester.status(name)["failures"][0]["reason"] == "stalled", "it fails again")
    check(tester.logs(again, f"{again['arrays'][0]['job']}_0").count("stalled") == 1, "and its log says why")


def many_ranks(tester):
    """Packs of points on several ranks, by both launchers. Returns the submissions."""
    return {
        f"by {launcher}": tester.submit(
            f"by {launcher}",
            *(f"--ranks-per-point={MANY_RANKS}", f"--launcher={launcher}", "--points-per-task=4", "--max-running=1"),
        )
        for launcher in ("mpirun", "srun")
    }


def many_ranks_ended(tester, submissions):
    tester.wait_for(*submissions.values())
    for name, submitted in submissions.items():
        section(f"points on {MANY_RANKS} ranks, {name}")
        check([len(task) for task in submitted["arrays"][0]["tasks"]] == [4, 2], "packs of 4 and 2 points")
        check(tester.table(name) == tester.table("local"), "the same table")
        for point in submitted["arrays"][0]["tasks"][0]:
            result, log = (os.path.join(tester.dir(name), "points", point, leaf) for leaf in ("result.h5", "log.txt"))
            check(f"{MANY_RANKS} ranks on" in text_of(log), f"point {point} ran on {MANY_RANKS} ranks")
            local = os.path.join(tester.dir("local"), "points", point, "result.h5")
            done = subprocess.run(["h5diff", local, result, "/data"], capture_output=True, text=True)
            check(done.returncode == 0, f"and gave the same bits {done.stdout}{done.stderr}")


def requeued(tester):
    """A task that is sent back to the queue while its point runs."""
    section("a requeued point runs again")
    submitted = tester.submit("requeued", *SECONDS)
    job, point = submitted["arrays"][0]["job"], submitted["arrays"][0]["tasks"][1][0]
    status = os.path.join(tester.dir("requeued"), "points", point, "status.toml")
    tester.cluster.wait_for(lambda: os.path.exists(status) and "running" in text_of(status), "a point to run", 60)
    check(tester.status("requeued", *SECONDS)["running"] > 0, "weir sweep status sees it running")
    tester.cluster.run("scontrol", "requeue", f"{job}_1")
    check(not os.path.exists(os.path.join(os.path.dirname(status), "result.h5")), "there was no result yet")
    return submitted


def requeued_ended(tester, submitted):
    section("the requeued point is done, and the table the same as without")
    tester.wait_for(submitted)
    job = submitted["arrays"][0]["job"]
    check(tester.slurm_says(f"{job}_1", "Restarts") == "1", "Slurm has started the task twice")
    tester.sweep("run", "local-seconds", *SECONDS, "--jobs=2", "--quiet")
    check(tester.table("requeued") == tester.table("local-seconds"), "the same table as without Slurm")


def out_of_time(tester):
    """A point that takes longer than its task may. The partition's tasks get at least a minute; the notice comes a minute before."""
    return tester.submit("late", *FOREVER, "--time=1", "--points-per-task=6")


def out_of_time_ended(tester, submitted):
    section("a point that takes too long saves its state before its time is over, and goes on from there")
    job = submitted["arrays"][0]["job"]
    points = os.path.join(tester.dir("late"), "points")

    def gone_on():
        logs = [os.path.join(points, point, "log.txt") for point in os.listdir(points)]
        return any("goes on from" in text_of(log) for log in logs if os.path.exists(log))

    tester.cluster.wait_for(gone_on, "a point to go on", 300)
    check(int(tester.slurm_says(f"{job}_0", "Restarts")) >= 1, "Slurm has started the task again")
    check("the same command goes on from here" in tester.logs(submitted, f"{job}_0"), "which had stopped in good order")
    tester.cluster.run("scancel", str(job))
    tester.wait_for(submitted)
    status = tester.status("late", *FOREVER)
    check((status["waiting"], status["failed"]) == (POINTS, 0), "a cancelled task is over, and its points can be submitted again")
    _, told = tester.sweep("submit", "late", *FOREVER, "--dry-run")
    check(told.startswith(f"{POINTS} points"), told.strip())


def dependent(tester):
    """Points that begin after a job of the user's own, such as one that builds the program."""
    section("a study waits for the job that it depends on")
    before = tester.cluster.run("sbatch", "--parsable", "--hold", "--output=/dev/null", "--wrap", "true").stdout.strip()
    submitted = tester.submit("dependent", "--dependency", f"afterok:{before}", "--points-per-task=3")
    array = submitted["arrays"][0]["job"]
    waits = tester.slurm_says(array, "Dependency")
    check(f"afterok:{before}" in waits, f"the array waits for job {before}: {waits}")
    check(tester.slurm_says(array, "JobState") == "PENDING", "nothing runs before it")
    check(tester.status("dependent")["waiting"] == POINTS, "and all points wait")
    tester.cluster.run("scontrol", "release", before)
    tester.wait_for(submitted)
    status = tester.status("dependent")
    check((status["done"], status["failed"]) == (POINTS - 1, 1), "then all points run")
    check(tester.table("dependent") == tester.table("local"), "and the table is that of a run without Slurm")


def changed_job_file(tester):
    """What was submitted is known by numbers, which another job file gives to other points."""
    section("a job file that was changed after it was submitted is refused")
    file = os.path.join(tester.out, "changed.toml")
    shutil.copy(STUDY, file)
    submitted = tester.submit("changed", "--sbatch-option=--hold", "--points-per-task=6", file=file)
    with open(file, "a", encoding="utf-8") as job_file:
        job_file.write("# another one\n")
    tester.cluster.run("scontrol", "release", str(submitted["arrays"][0]["job"]), str(submitted["collect"]))
    tester.wait_for(submitted)
    check("submit it again" in tester.logs(submitted, ""), "the log says what to do")
    check(not os.listdir(os.path.join(tester.dir("changed"), "points")), "nothing ran")


def tuned(tester):
    """A search of which Slurm runs each stage: the same commands, in turn, until there is a best setting."""
    section("weir tune, stage by stage on Slurm")
    file = os.path.join(PROJECT, "tests", "slurm", "tune.toml")
    tester.cluster.run(tester.program, "tune", file, "--out", tester.dir("tuned here"), "-j", "2", "--quiet")
    out = tester.dir("tuned")
    stages = 0
    while True:
        said = tester.cluster.run(tester.program, "tune", file, "--out", out, "--plan").stdout
        next_one = re.search(r"weir sweep submit (\S+) --out (\S+)", said)
        if not next_one:
            break
        stages += 1
        check(stages < 10, said.splitlines()[0])
        job, into = next_one.groups()
        tester.wait_for(tester.submit(os.path.relpath(into, tester.out), file=job))
    check(stages >= 3, f"what it is compared with, the grid and its neighbours: {stages} submissions")
    best = [text_of(os.path.join(tester.dir(name), "best.toml")) for name in ("tuned here", "tuned")]
    check(best[0] == best[1], "the same best setting as without Slurm")


def examples(tester):
    section("the batch scripts of jobs/")
    small = ["jobs/bench/uniform-1056.toml", "--set", "run.until=3 us", "--set", "run.warmup=1 us"]
    array_out = tester.dir("array")
    calls = [
        (["--ntasks=3", "--cpus-per-task=2", "jobs/large-run.sbatch", *small], "large-run"),
        (["--array=0-1", "jobs/sweep-array.sbatch", "--out", array_out, "--set", "run.until=40 us"], "sweep-array"),
    ]
    copy = os.path.join(tester.out, "examples")
    os.makedirs(copy)
    for folder in ("jobs", "topologies"):
        os.symlink(os.path.join(PROJECT, folder), os.path.join(copy, folder))
    jobs = {}
    for words, name in calls:
        done = tester.cluster.run("sbatch", "--test-only", *words, check=False, cwd=copy)
        check(done.returncode == 0, f"sbatch --test-only: {(done.stdout + done.stderr).strip()}")
        jobs[name] = tester.cluster.run("sbatch", "--parsable", *words, cwd=copy).stdout.strip()
    return copy, jobs


def examples_ended(tester, copy, jobs):
    section("the batch scripts of jobs/ have run")
    tester.cluster.wait_for(lambda: all(map(tester.ended, jobs.values())), f"the jobs {jobs}", 60)
    large = jobs["large-run"]
    log = text_of(os.path.join(copy, f"weir-{large}.log"))
    check("3 ranks on 1 host with 2 threads each" in log, "large-run.sbatch: 3 ranks of 2 threads")
    check(os.path.exists(os.path.join(copy, "out", large, "result.h5")), "and a result")
    points = os.path.join(tester.dir("array"), "points")
    results = [os.path.exists(os.path.join(points, point, "result.h5")) for point in os.listdir(points)]
    check(results == [True, True], "sweep-array.sbatch: two points")


def main(weir, out):
    reason = why_not()
    if reason:
        print(f"skipped: no Slurm can be started here: {reason}")
        sys.exit(1 if os.environ.get("WEIR_NEEDS_SLURM") == "1" else 0)
    began = time.monotonic()
    weir, out = os.path.abspath(weir), os.path.abspath(out)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    with Cluster(cpus=8, max_array_size=5) as cluster:
        tester = Tester(weir, out, cluster)
        section("for comparison, without Slurm")
        tester.sweep("run", "local", "--jobs=2", "--quiet", code=1)
        refusals(tester)
        dry_run(tester)
        late = out_of_time(tester)
        again = requeued(tester)
        study = whole_study(tester)
        ranks = many_ranks(tester)
        scripts = examples(tester)
        changed_job_file(tester)
        dependent(tester)
        whole_study_ended(tester, *study)
        tuned(tester)
        many_ranks_ended(tester, ranks)
        examples_ended(tester, *scripts)
        requeued_ended(tester, again)
        out_of_time_ended(tester, late)
    print(f"all good, in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
