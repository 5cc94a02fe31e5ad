"""A real Slurm of one node for tests: own configuration, key, ports and directories; stops all that it started.

usage: cluster.py COMMAND…      runs the command in a cluster of its own; its exit code is that of the command

Needs root (slurmd starts jobs as their users) and Debian's packages slurm-wlm and munge. Nothing is read from or written to
/etc/slurm and /etc/munge, and a Slurm that runs on this machine is not touched.

    with Cluster() as cluster:
        cluster.run("sbatch", "job.sh")
"""

import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

# The daemons are in /usr/sbin, which is not in every path.
PATH = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue", "scancel", "sinfo"]

# linux/prctl.h
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

# No cgroups and no accounting: a container has neither. `config_overrides`: as many CPUs as are written here, whatever the machine
# has. A requeued job waits until its old credential has expired, which is two minutes unless it is said otherwise.
CONFIGURATION = """\
ClusterName=weir-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={munge}/socket,cred_expire=5
PlugStackConfig={dir}/plugstack.conf
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
MaxArraySize={max_array_size}
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
KillWait=5
InactiveLimit=0
OverTimeLimit=0
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000
PartitionName=main Nodes={host} Default=YES MaxTime=1440 DefaultTime=10 OverSubscribe=NO
PartitionName=other Nodes={host} Default=NO MaxTime=1440 DefaultTime=10 OverSubscribe=NO
"""


def why_not():
    """Why no cluster can be started here; None if one can."""
    missing = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if missing:
        return f"there is no {', '.join(missing)} (Debian: slurm-wlm and munge)"
    if os.geteuid() != 0:
        return "slurmd starts jobs as their users, which takes root"
    return None


def free_ports(count):
    """Ports that nobody listens on at the moment."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def prctl(option, value):
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def descendants(ancestor):
    """Process ids below a process, children before their children."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                # The name of the program is in brackets and may hold anything.
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(parent, []).append(int(name))
    found = list(children.get(ancestor, []))
    for pid in found:
        found += children.get(pid, [])
    return found


class Cluster:
    """One node, two partitions (main and other); runs between `with` and its end."""

    def __init__(self, cpus=4, max_array_size=5):
        self.dir = tempfile.mkdtemp(prefix="weir-slurm-")
        self.munge = os.path.join(self.dir, "munge")
        self.configuration = os.path.join(self.dir, "slurm.conf")
        self.cpus, self.max_array_size = cpus, max_array_size
        self.daemons = []
        # What Slurm says about the shell that started this is not about jobs in here.
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM", "SBATCH", "SRUN"))}
        self.environment = kept | {"SLURM_CONF": self.configuration, "PATH": PATH}

    def __enter__(self):
        # Slurm's job starter and the jobs are no children of the daemons; as orphans they become ours, and are found at the end.
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            self._configure()
            self._start_munge()
            self._start("slurmctld", "-D", "-i", "-f", self.configuration)
            self._start("slurmd", "-D", "-f", self.configuration)
            self._wait(lambda: "idle" in self._query("sinfo", "-h", "-o", "%T"), "the node to become idle", 30)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind, *_):
        if kind is not None and kind is not SystemExit:
            self.show_logs()
        self.stop()

    def run(self, *command, check=True, **options):
        """Runs a command with this cluster's environment; returns what it printed."""
        options = {"env": self.environment, "capture_output": True, "text": True} | options
        done = subprocess.run(command, **options)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def jobs(self):
        """Jobs and array tasks that are not over: id → state."""
        lines = self.run("squeue", "-h", "-r", "-o", "%i %T").stdout.splitlines()
        return dict(line.split() for line in lines)

    def wait_for(self, condition, what, seconds=60):
        """Waits until `condition()` holds; a daemon that has died or the time ends the test."""
        self._wait(condition, what, seconds)

    def wait_until_idle(self, seconds=60):
        self._wait(lambda: not self.jobs(), "all jobs to end", seconds)

    def show_logs(self):
        for name in ("munged.log", "slurmctld.log", "slurmd.log"):
            path = os.path.join(self.munge if name.startswith("munged") else self.dir, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    print(f"--- the end of {name}\n{''.join(file.readlines()[-30:])}", file=sys.stderr)

    def stop(self):
        """Ends the jobs, then the daemons, last whatever else is left of this process's offspring; removes the directory."""
        if any(name == "slurmctld" and one.poll() is None for name, one in self.daemons):
            self.run("scancel", "--quiet", f"--user={pwd.getpwuid(os.geteuid()).pw_name}", check=False, timeout=20)
        for _, daemon in reversed(self.daemons):
            daemon.terminate()
        for _, daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._end_orphans()
        shutil.rmtree(self.dir, ignore_errors=True)

    def _configure(self):
        os.chmod(self.dir, 0o755)
        for name in ("state", "spool"):
            os.mkdir(os.path.join(self.dir, name), 0o755)
        controller_port, node_port = free_ports(2)
        text = CONFIGURATION.format(
            host=socket.gethostname().split(".")[0],
            dir=self.dir,
            munge=self.munge,
            controller_port=controller_port,
            node_port=node_port,
            max_array_size=self.max_array_size,
            cpus=self.cpus,
        )
        for path, content in ((self.configuration, text), (os.path.join(self.dir, "plugstack.conf"), "")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)

    def _start_munge(self):
        os.mkdir(self.munge, 0o755)
        key = os.path.join(self.munge, "key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(os.urandom(128))
        who = {}
        try:
            user = pwd.getpwnam("munge")
            who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            for path in (self.munge, key):
                os.chown(path, user.pw_uid, user.pw_gid)
        except KeyError:
            pass  # No such user: as root.
        files = {"socket": "socket", "key-file": "key", "pid-file": "pid", "seed-file": "seed", "log-file": "munged.log"}
        self._start("munged", "-F", *(f"--{flag}={self.munge}/{name}" for flag, name in files.items()), **who)
        self._wait(lambda: os.path.exists(f"{self.munge}/socket"), "munged to listen", 10)

    def _start(self, program, *arguments, **who):
        with open(os.path.join(self.dir, f"{program}.out"), "wb") as out:
            daemon = subprocess.Popen(
                [shutil.which(program, path=PATH), *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.dir,
                # Even if this process is killed outright, they end.
                preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGTERM),
                **who,
            )
        self.daemons.append((program, daemon))

    def _query(self, *command):
        return self.run(*command, check=False).stdout

    def _wait(self, condition, what, seconds):
        end = time.monotonic() + seconds
        while not condition():
            for name, daemon in self.daemons:
                if daemon.poll() is not None:
                    with open(os.path.join(self.dir, f"{name}.out"), encoding="utf-8", errors="replace") as file:
                        raise RuntimeError(f"{name} has ended with exit code {daemon.returncode}:\n{file.read()}")
            if time.monotonic() > end:
                raise RuntimeError(f"waited {seconds} s in vain for {what}; jobs: {self._query('squeue', '-r')}")
            time.sleep(0.2)

    @staticmethod
    def _end_orphans():
        """Ends what is left below this process, and collects it."""
        for sent in (signal.SIGTERM, signal.SIGKILL):
            end = time.monotonic() + 5
            left = descendants(os.getpid())
            for pid in left:
                try:
                    os.kill(pid, sent)
                except ProcessLookupError:
                    pass
            while left and time.monotonic() < end:
                try:
                    while os.waitpid(-1, os.WNOHANG)[0]:
                        pass
                except ChildProcessError:
                    return
                time.sleep(0.1)
                left = descendants(os.getpid())


def main(*command):
    reason = why_not()
    if reason:
        sys.exit(f"error: no Slurm: {reason}")
    with Cluster() as cluster:
        sys.exit(cluster.run(*command, check=False, capture_output=False).returncode)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
