"""Several hosts, in network namespaces of the test's own, one cut off in the middle: the table stays the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from uuid import uuid4

import pytest

from recassay.recommenders.study import run_study
from support.run import numbers, tiny_folder, tiny_study

pytest.importorskip("distributed")

DRIVER = """
import sys
from pathlib import Path
from recassay.recommenders.study import run_study
from support.run import tiny_study

def tell(event):
    print(event.kind, flush=True)

folder = Path(sys.argv[1])
study = tiny_study(folder, ("Slow", "Pop", "Fake"), trials=9, parallel=3)
record = run_study(study, folder / "spread", cluster=sys.argv[2], progress=tell)
print("done", record.done, flush=True)
"""

QUICK = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "15s",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "15s",
}
"""How soon a cluster believes that a host is gone: by default half a minute and five minutes."""


def _ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@pytest.fixture
def hosts():
    """A hub and two hosts, each on a wire of its own to the hub; `hosts.cut(n)` pulls a wire."""
    if sys.platform != "linux" or shutil.which("ip") is None:
        pytest.skip("network namespaces need Linux with iproute2 (the command ip)")
    mark = uuid4().hex[:6]
    names = {"hub": f"ra{mark}h", 1: f"ra{mark}a", 2: f"ra{mark}b"}
    try:
        _ip("netns", "add", names["hub"])
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespace can be made here: {error.stderr.strip()}")
    try:
        for n in (1, 2):
            wire, end = f"ra{mark}{n}", f"ra{mark}{n}e"
            _ip("netns", "add", names[n])
            _ip("-n", names["hub"], "link", "add", wire, "type", "veth", "peer", "name", end, "netns", names[n])
            for where, device, address in ((names["hub"], wire, 1), (names[n], end, 2)):
                _ip("-n", where, "address", "add", f"10.77.{n}.{address}/24", "dev", device)
                _ip("-n", where, "link", "set", device, "up")
        for name in names.values():
            _ip("-n", name, "link", "set", "lo", "up")
        begun = []

        def start(host, command, **more):
            begun.append(subprocess.Popen(["ip", "netns", "exec", names[host], sys.executable, *command], **more))
            return begun[-1]

        start.cut = lambda n: _ip("-n", names["hub"], "link", "set", f"ra{mark}{n}", "down")
        yield start
        for process in begun:
            process.kill()
            process.wait()
    finally:
        for name in names.values():
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def test_a_host_that_is_cut_off_costs_no_cell(hosts, tmp_path):
    tiny_folder(tmp_path)
    path = os.pathsep.join([*sys.path, os.environ.get("PYTHONPATH", "")])
    log = (tmp_path / "cluster.log").open("ab")
    quiet = {"env": os.environ | QUICK | {"PYTHONPATH": path}, "cwd": tmp_path, "stdout": log, "stderr": log}
    file = tmp_path / "scheduler.json"
    rest = ["--no-dashboard", "--port", "8786", "--scheduler-file", str(file)]
    hosts("hub", ["-m", "dask", "scheduler", "--host", "0.0.0.0", *rest], **quiet)
    until = time.monotonic() + 60
    while not file.is_file() and time.monotonic() < until:
        time.sleep(0.1)
    for n in (1, 2):
        command = ["-m", "dask", "worker", f"tcp://10.77.{n}.1:8786", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        hosts(n, [*command, "--host", f"10.77.{n}.2"], **quiet)
    command = ["-c", DRIVER, str(tmp_path), "tcp://10.77.1.1:8786"]
    driver = hosts("hub", command, text=True, **quiet | {"stdout": subprocess.PIPE})
    told = []
    with driver.stdout:
        for line in driver.stdout:
            told.append(line.split())
            if told[-1] == ["trial"] and told.count(["trial"]) == 4:
                hosts.cut(2)
    log.close()
    assert driver.wait() == 0, (tmp_path / "cluster.log").read_text()[-3000:]
    assert told[-1] == ["done", "3"]
    study = tiny_study(tmp_path, ("Slow", "Pop", "Fake"), trials=9, parallel=3)
    run_study(study, tmp_path / "alone", workers=1)
    assert json.dumps(numbers(tmp_path / "spread"), default=str) == json.dumps(numbers(tmp_path / "alone"), default=str)
