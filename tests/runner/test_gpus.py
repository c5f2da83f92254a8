"""Which jobs share a GPU, and what its driver says."""

from __future__ import annotations

from types import SimpleNamespace

from recassay.runner import gpus
from recassay.runner.gpus import MARGIN, PROCESS_BYTES, GpuPlaces

GB = 10**9


def held(places: GpuPlaces, *needs: int | None) -> list[str | None]:
    """Where jobs with these needs are put, one after the other."""
    found = []
    for need in needs:
        name = places.find(need)
        found.append(name)
        if name is not None:
            places.take(name, need)
    return found


def test_as_many_jobs_as_the_free_memory_holds():
    places = GpuPlaces(["0"], {"0": 10 * GB})
    each = int((10 * GB / 3 - PROCESS_BYTES) / MARGIN)
    assert held(places, each, each, each, each, 0) == ["0", "0", "0", None, None]
    places.give("0", each)
    assert held(places, each + GB, each) == [None, "0"], "a smaller job goes first where a larger one must wait"


def test_what_states_nothing_or_more_than_there_is_is_alone():
    for need in (None, 99 * GB):
        places = GpuPlaces(["0"], {"0": 10 * GB})
        assert held(places, need, 0, None) == ["0", None, None]
        places.give("0", need)
        assert held(places, 0, need) == ["0", None]


def test_a_gpu_whose_driver_says_nothing_takes_one_at_a_time():
    assert held(GpuPlaces(["0", "1"]), 0, 0, 0) == ["0", "1", None]


def test_a_stated_number_counts_jobs_and_no_memory():
    assert held(GpuPlaces(["0", "1"], {}, 2), None, 99 * GB, None, 0, 0) == ["0", "1", "0", "1", None]


def test_jobs_are_spread_over_gpus():
    assert held(GpuPlaces(["a", "b"], {"a": 9 * GB, "b": 9 * GB}), 0, 0, 0, GB) == ["a", "b", "a", "b"]


def test_without_a_gpu_there_is_no_place():
    assert not GpuPlaces(())
    assert GpuPlaces(["0"])


def test_free_memory_by_the_name_that_a_process_is_given(monkeypatch):
    """The driver knows the GPUs by other numbers; the second one says nothing."""

    def by_uuid(uuid, device):
        device._obj.value = {b"GPU-aa": 7, b"GPU-bb": 8}[uuid]
        return 0

    def memory(device, found):
        found._obj.total, found._obj.free = 100, 60
        return 0 if device.value == 7 else 3

    uuids = ["aa", "bb"]
    cuda = SimpleNamespace(get_device_properties=lambda number: SimpleNamespace(uuid=uuids[number]))
    library = SimpleNamespace(nvmlDeviceGetHandleByUUID=by_uuid, nvmlDeviceGetMemoryInfo=memory)
    monkeypatch.setattr(gpus, "visible_gpus", lambda: ("3", "5"))
    monkeypatch.setattr(gpus, "torch", SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(gpus, "management", lambda: library)
    assert gpus.free_bytes() == {"3": 60}
    monkeypatch.setattr(gpus, "management", lambda: None)
    assert gpus.free_bytes() == {}


def test_the_driver_of_a_gpu_is_asked_where_there_is_one(monkeypatch):
    asked = []

    def load(name):
        asked.append(name)
        if len(asked) == 1:
            raise OSError
        return SimpleNamespace(nvmlInit_v2=lambda: 3 if len(asked) == 2 else 0)

    monkeypatch.setattr(gpus.ctypes, "CDLL", load)
    gpus.management.cache_clear()
    try:
        for platform, known in (("linux", False), ("linux", False), ("win32", True)):
            monkeypatch.setattr(gpus.sys, "platform", platform)
            gpus.management.cache_clear()
            assert (gpus.management() is not None) is known
    finally:
        gpus.management.cache_clear()
    assert asked == ["libnvidia-ml.so.1", "libnvidia-ml.so.1", "nvml.dll"]
