"""A study on SLURM: every worker is a job of the queue, the driver runs where this is called (a login node, or a job).

python slurm.py study.toml --out /shared/films --workers 64 --queue long --memory 16 --walltime 12:00:00
python slurm.py study.toml --out /shared/films --show        # the job script of a worker, and nothing is started

Needs `pip install 'recassay[dask]' dask-jobqueue` in an environment that the nodes see. The folder of the study and the
data lie on a disk that all nodes see under the same path. The same command resumes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from dask_jobqueue import SLURMCluster


def worker_jobs(chosen: argparse.Namespace) -> SLURMCluster:
    """A scheduler here, and the job of one worker: one process with one thread, its memory, perhaps a GPU."""
    resources = f"MEMORY={int(chosen.memory * 1e9)}" + (",GPU=1" if chosen.gpu else "")
    return SLURMCluster(
        queue=chosen.queue,
        account=chosen.account,
        walltime=chosen.walltime,
        cores=1,
        processes=1,
        memory=f"{chosen.memory:g}GB",
        job_extra_directives=["--gres=gpu:1"] if chosen.gpu else [],
        # A node that does not see the folder has no worker: its job ends, and says so in its log.
        job_script_prologue=[f"test -d '{chosen.out}' || {{ echo 'no folder {chosen.out} here' >&2; exit 1; }}"],
        worker_extra_args=["--resources", f"'{resources}'"],
        log_directory=str(chosen.out / "slurm"),
    )


def options() -> argparse.ArgumentParser:
    """What may be said on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("--out", type=lambda text: Path(text).resolve(), required=True, help="on the shared disk")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--queue")
    parser.add_argument("--account")
    parser.add_argument("--walltime", default="12:00:00")
    parser.add_argument("--memory", type=float, default=16.0, help="of a worker, in units of 10^9 bytes")
    parser.add_argument("--gpu", action="store_true", help="a GPU for every worker")
    parser.add_argument("--show", action="store_true", help="print the job script and end")
    return parser


def main() -> None:
    """Start the workers, run the study, end the workers."""
    chosen = options().parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    with worker_jobs(chosen) as cluster:
        if chosen.show:
            print(cluster.job_script())
            return
        import recassay

        cluster.scale(jobs=chosen.workers)
        record = recassay.run(chosen.study, chosen.out, cluster=cluster.scheduler_address)
        print(f"{record.done} of {record.planned} cells are done in {record.folder}")


if __name__ == "__main__":
    main()
