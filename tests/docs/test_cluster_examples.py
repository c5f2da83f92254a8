"""What the examples for SLURM and Kubernetes generate has what a worker needs."""

from __future__ import annotations

import importlib.util
import json
import shlex
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "cluster"


def example(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore")
def test_the_job_script_for_slurm(tmp_path):
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed (it comes with the extra test)")
    slurm = example("slurm")
    said = ["study.toml", "--out", str(tmp_path / "films"), "--queue", "long", "--memory", "12", "--gpu"]
    with slurm.worker_jobs(slurm.options().parse_args(said)) as cluster:
        script = cluster.job_script()
        address = cluster.scheduler_address
    lines = script.splitlines()
    directives = {line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH ")}
    assert {"-p long", "-n 1", "--cpus-per-task=1", "--mem=12G", "-t 12:00:00", "--gres=gpu:1"} <= directives
    command = shlex.split(next(line for line in lines if "distributed.cli.dask_worker" in line))
    assert command[command.index("--nthreads") + 1] == "1"
    assert command[command.index("--resources") + 1] == "MEMORY=12000000000,GPU=1"
    assert address in command
    assert "--nworkers" not in command or command[command.index("--nworkers") + 1] == "1"
    assert any(line.startswith(f"test -d '{tmp_path / 'films'}' ||") for line in lines)


@pytest.mark.filterwarnings("ignore")
def test_the_manifest_for_kubernetes():
    pytest.importorskip("dask_kubernetes", reason="dask-kubernetes is not installed: it brings a client of Kubernetes")
    kubernetes = example("kubernetes")
    said = ["--image", "registry.example.org/recassay:1", "--claim", "films", "--workers", "5", "--memory", "12"]
    made = json.loads(json.dumps(kubernetes.manifest(kubernetes.options().parse_args([*said, "--gpu"]))))
    assert made["kind"] == "DaskCluster"
    worker = made["spec"]["worker"]
    assert worker["replicas"] == 5
    container = worker["spec"]["containers"][0]
    assert container["args"][:2] == ["dask", "worker"]
    assert container["args"][container["args"].index("--nthreads") + 1] == "1"
    assert container["args"][container["args"].index("--resources") + 1] == "MEMORY=12000000000,GPU=1"
    assert container["resources"]["limits"] == {"cpu": "1", "memory": "12000000000", "nvidia.com/gpu": "1"}
    for part in ("worker", "scheduler"):
        pod = made["spec"][part]["spec"]
        assert pod["volumes"] == [{"name": "shared", "persistentVolumeClaim": {"claimName": "films"}}]
        assert pod["containers"][0]["volumeMounts"] == [{"name": "shared", "mountPath": "/shared"}]
    plain = kubernetes.manifest(kubernetes.options().parse_args(said))
    assert "nvidia.com/gpu" not in plain["spec"]["worker"]["spec"]["containers"][0]["resources"]["limits"]
    assert "nvidia.com/gpu" not in plain["spec"]["scheduler"]["spec"]["containers"][0]["resources"]["limits"]
