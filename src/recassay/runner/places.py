"""The places that a cluster has for jobs: threads of workers, some with a GPU, some with a stated memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recassay.runner.jobs import Job, JobQueue

GPU, MEMORY = "GPU", "MEMORY"
"""The resources by which a Dask worker says that it has a GPU, and how many bytes a job may use there."""

AHEAD = 2
"""How many jobs a place are submitted: one that runs, and one that waits for it."""


class Places:
    """The places of the workers that a scheduler names, and what there is room for."""

    def __init__(self, workers: Mapping[str, Any]) -> None:
        self.threads = sum(int(worker["nthreads"]) for worker in workers.values())
        self._resources = [worker.get("resources", {}) for worker in workers.values()]
        self.gpus = int(sum(resource.get(GPU, 0) for resource in self._resources))
        self.memories = sorted(
            (int(resource[MEMORY]) for resource in self._resources if MEMORY in resource), reverse=True
        )

    def take(self, waiting: JobQueue, submitted: Sequence[Job]) -> Job | None:
        """The first waiting job for which there is room beside those that are submitted.

        Jobs that only some workers can run are not submitted in such numbers that the other workers have none.
        """
        if len(submitted) >= AHEAD * self.threads:
            return None
        on_gpu = sum(job.gpu for job in submitted)
        needs = [self.need(job) for job in submitted] if self.memories else []

        def accepts(job: Job) -> bool:
            if job.gpu and self.gpus and on_gpu >= AHEAD * self.gpus:
                return False
            need = self.need(job)
            if not need:
                return True
            return sum(other >= need for other in needs) < AHEAD * sum(memory >= need for memory in self.memories)

        return waiting.take(accepts)

    def need(self, job: Job) -> int:
        """The memory that a job is submitted with: what it needs, or all that the largest worker has; 0: any."""
        if not self.memories:
            return 0
        return min(job.need() or 0, self.memories[0])

    def offered(self, asked: Mapping[str, int] | None) -> bool:
        """Whether one of the workers has all that a job asks for."""
        return not asked or any(
            all(resource.get(key, 0) >= asked[key] for key in asked) for resource in self._resources
        )

    def resources(self, job: Job) -> dict[str, int] | None:
        """What a job asks of a worker, where there are workers that have it."""
        asked = ({GPU: 1} if job.gpu and self.gpus else {}) | ({MEMORY: need} if (need := self.need(job)) else {})
        return asked or None
