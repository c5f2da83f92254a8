"""The energy of a job: counters that wrap, shares of the machine, estimates, and what a cell keeps."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from recassay.runner import energy
from recassay.runner.energy import Reading, read_counters, spent


def test_without_counters_processor_seconds_are_charged_and_said_to_be_an_estimate(monkeypatch):
    monkeypatch.setenv(energy.WATTS_VARIABLE, "20")
    found = spent(Reading(1.0, None), Reading(3.5, None))
    assert (found.joules, found.how) == (50.0, "estimated (20 W per busy core)")
    for wrong in ("nan", "-3", "0", "inf", "many"):
        monkeypatch.setenv(energy.WATTS_VARIABLE, wrong)
        assert energy.watts_per_core() == energy.WATTS


def _domain(folder: Path, name: str, kind: str, microjoules: int, most: int = 1000) -> Path:
    place = folder / name
    place.mkdir()
    for file, value in (("name", kind), ("energy_uj", microjoules), ("max_energy_range_uj", most)):
        (place / file).write_text(f"{value}\n")
    return place


def test_rapl_counts_packages_and_memory_once_and_a_job_gets_its_share(tmp_path, monkeypatch):
    package = _domain(tmp_path, "intel-rapl:0", "package-0", 900_000_000, 1_000_000_000)
    memory = _domain(tmp_path, "intel-rapl:0:1", "dram", 10_000_000)
    _domain(tmp_path, "intel-rapl:0:0", "core", 5)
    _domain(tmp_path, "intel-rapl:1", "psys", 5)
    monkeypatch.setattr(energy, "POWERCAP", tmp_path)
    energy._domains.cache_clear()
    try:
        begin = read_counters()
        assert set(begin.packages) == {package, memory}
        (package / "energy_uj").write_text("20000000")  # it began again at its end: 120 J
        (memory / "energy_uj").write_text("30000000")  # 20 J
        end = read_counters()
    finally:
        energy._domains.cache_clear()
    begin, end = Reading(10.0, 100.0, begin.packages), Reading(12.0, 108.0, end.packages)
    assert spent(begin, end).joules == pytest.approx(140 * 2 / 8)
    assert spent(begin, end).how == "measured (RAPL)"


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize(("sharers", "part"), [(1, ")"), (3, ", 1/3 of it)")])
def test_the_gpu_that_torch_uses_is_charged_by_who_is_on_it(monkeypatch, counted, sharers, part):
    cuda = SimpleNamespace(is_initialized=lambda: True, get_device_properties=lambda _: SimpleNamespace(uuid="b2"))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    monkeypatch.delenv(energy.WATTS_VARIABLE, raising=False)
    begin = Reading(0.0, None, {}, {"GPU-a1": (5, 9), "GPU-b2": (1_000, 9)} if counted else {})
    end = Reading(1.0, None, {}, {"GPU-a1": (9_000, 9), "GPU-b2": (4_000, sharers)} if counted else {})
    found = spent(begin, end)
    assert found.joules == pytest.approx(10 + 3 / sharers if counted else 10)
    assert found.how.endswith(f"; GPU measured by NVML{part}") is counted
    assert ("GPU not measured" in found.how) is not counted


def test_reading_the_counters_takes_less_than_a_millisecond():
    read_counters()
    begin = time.process_time()
    for _ in range(100):
        read_counters()
    assert (time.process_time() - begin) / 100 < 1e-3


def test_counters_that_cannot_be_read_again(tmp_path):
    gone = tmp_path / "gone"
    begin, end = Reading(0.0, 1.0, {gone: 900}), Reading(1.0, 2.0, {gone: 100})
    assert (spent(begin, end).joules, spent(begin, end).how) == (0.0, "measured (RAPL)")
    other = Reading(3.0, 2.0, {gone: 950, tmp_path: 3})
    assert spent(begin, other).how.startswith("estimated")
    assert spent(Reading(5.0, None), Reading(4.0, None)).joules == 0.0
    short = spent(Reading(0.0, 1.0, {gone: 0}), Reading(2.0, 1.5, {gone: 4_000_000}))
    assert short.joules == 4.0


def test_a_cell_keeps_the_energy_of_all_and_that_of_its_fit():
    whole, fit = energy.Energy(9.0, "measured (RAPL)"), energy.Energy(2.0, "measured (RAPL)")
    assert whole.record(fit) == {"joules": 9.0, "joules_fit": 2.0, "how": "measured (RAPL)"}


def test_gpus_whose_driver_counts(monkeypatch):
    """The second of three GPUs is too old to count."""

    def put(place, value):
        place._obj.value = value
        return 0

    def uuid(device, buffer, size):
        buffer.value = f"GPU-{device.value}".encode()
        return 0

    library = SimpleNamespace(
        nvmlDeviceGetCount_v2=lambda count: put(count, 3),
        nvmlDeviceGetHandleByIndex_v2=lambda number, device: put(device, number + 1),
        nvmlDeviceGetUUID=uuid,
        nvmlDeviceGetTotalEnergyConsumption=lambda device, energy: (
            3 if device.value == 2 else put(energy, 1000 * device.value)
        ),
        nvmlDeviceGetComputeRunningProcesses_v3=lambda device, count, names: put(count, 2 * (device.value - 1)),
    )
    monkeypatch.setattr(energy, "management", lambda: library)
    assert energy._gpu_counters() == {"GPU-1": (1000, 1), "GPU-3": (3000, 4)}
    monkeypatch.setattr(energy, "has_gpu", lambda: True)
    for visible, expected in (("0", {"GPU-1": (1000, 1), "GPU-3": (3000, 4)}), ("", {})):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert read_counters().gpus == expected
    del library.nvmlDeviceGetComputeRunningProcesses_v3
    assert energy._gpu_counters()["GPU-3"] == (3000, 1)
    monkeypatch.setattr(energy, "management", lambda: None)
    assert energy._gpu_counters() == {}


def test_seconds_of_all_processes_leave_out_those_that_were_idle_or_waited(tmp_path, monkeypatch):
    """user, nice, system, idle, iowait, irq, softirq, and then what guests and others took."""
    (tmp_path / "stat").write_text("cpu  1000 200 30 900000 80000 4 5 700 60 50\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
    monkeypatch.setattr(energy, "Path", lambda _: tmp_path / "stat")
    monkeypatch.setattr(energy.os, "sysconf", lambda _: 100)
    assert energy._busy_seconds() == pytest.approx((1000 + 200 + 30 + 4 + 5) / 100)
    (tmp_path / "stat").write_text("")
    assert energy._busy_seconds() is None


def test_a_gpu_that_this_process_does_not_use_is_not_charged(monkeypatch):
    cuda = SimpleNamespace(is_initialized=lambda: False)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    monkeypatch.delenv(energy.WATTS_VARIABLE, raising=False)
    begin, end = Reading(0.0, None, {}, {"GPU-a1": (0, 1)}), Reading(1.0, None, {}, {"GPU-a1": (9_000, 1)})
    found = spent(begin, end)
    assert (found.joules, found.how) == (10.0, "estimated (10 W per busy core)")
    monkeypatch.setitem(sys.modules, "torch", None)
    assert spent(begin, end).joules == 10.0, "torch is not loaded"
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    cuda.is_initialized, cuda.get_device_properties = (lambda: True), (lambda _: SimpleNamespace(uuid="other"))
    assert spent(begin, end).joules == 19.0, "where the UUID is not among those counted, the first one is taken"
    assert spent(Reading(0.0, None), end).how == "estimated (10 W per busy core; GPU not measured)"


def test_the_seconds_of_a_job_are_its_own_and_those_of_what_it_started(monkeypatch, tmp_path):
    monkeypatch.setattr(energy, "POWERCAP", tmp_path)
    energy._domains.cache_clear()
    monkeypatch.setattr(energy.os, "times", lambda: SimpleNamespace(children_user=2.0, children_system=0.5))
    monkeypatch.setattr(energy.time, "process_time", lambda: 10.0)
    try:
        found = read_counters()
    finally:
        energy._domains.cache_clear()
    assert (found.processor, found.busy, found.packages) == (12.5, None, {})


@pytest.mark.parametrize(("begin", "end"), [(None, 2.0), (1.0, None)])
def test_without_the_seconds_of_the_machine_energy_is_estimated(tmp_path, begin, end):
    found = spent(Reading(0.0, begin, {tmp_path: 1}), Reading(1.0, end, {tmp_path: 9_000_000}))
    assert found.how.startswith("estimated (")
    assert found.joules == energy.watts_per_core()
