"""A study on Kubernetes: the manifest of a Dask cluster whose pods see one shared disk, for the Dask operator.

python kubernetes.py --image registry.example.org/recassay:1 --claim films --workers 64 --memory 16 > cluster.json
kubectl apply -f cluster.json
kubectl exec deploy/recassay-scheduler -- recassay run /shared/study.toml --out /shared/films --cluster tcp://localhost:8786

Needs `pip install dask-kubernetes` here, the operator in the cluster, an image with `recassay[dask]`, and a persistent
volume claim (ReadWriteMany) for the data and the folder of the study. The driver runs in the scheduler's pod.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from dask_kubernetes.operator import make_cluster_spec


def manifest(chosen: argparse.Namespace) -> dict[str, Any]:
    """The cluster: workers with one thread each, their memory, perhaps a GPU, and the shared disk in every pod."""
    limits = {"cpu": "1", "memory": f"{int(chosen.memory * 1e9)}"}
    spec = make_cluster_spec(
        name=chosen.name,
        image=chosen.image,
        n_workers=chosen.workers,
        resources={"requests": dict(limits), "limits": dict(limits)},
        worker_command="dask worker",
    )
    resources = f"MEMORY={int(chosen.memory * 1e9)}" + (",GPU=1" if chosen.gpu else "")
    pods = {part: spec["spec"][part]["spec"] for part in ("worker", "scheduler")}
    worker = pods["worker"]["containers"][0]
    worker["args"] += ["--nthreads", "1", "--resources", resources]
    if chosen.gpu:
        worker["resources"]["limits"]["nvidia.com/gpu"] = "1"
    for pod in pods.values():
        pod["volumes"] = [{"name": "shared", "persistentVolumeClaim": {"claimName": chosen.claim}}]
        pod["containers"][0]["volumeMounts"] = [{"name": "shared", "mountPath": chosen.mount}]
    return spec


def options() -> argparse.ArgumentParser:
    """What may be said on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="recassay")
    parser.add_argument("--image", required=True, help="with recassay[dask] and what the algorithms need")
    parser.add_argument("--claim", required=True, help="the persistent volume claim of the shared disk")
    parser.add_argument("--mount", default="/shared", help="where the pods see it")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--memory", type=float, default=16.0, help="of a worker, in units of 10^9 bytes")
    parser.add_argument("--gpu", action="store_true", help="a GPU for every worker")
    return parser


if __name__ == "__main__":
    print(json.dumps(manifest(options().parse_args()), indent=2))
