"""The verb `split`: the split that a study uses, written out so that a model can be trained elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recassay.api.arguments import checked
from recassay.api.inputs import InteractionsLike, PathLike
from recassay.core.choices import SplitFormat
from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.data.sources import open_dataset
from recassay.protocol.apply import apply_protocol
from recassay.recommenders.plan import dataset_protocol
from recassay.recommenders.split_folder import SplitExport, export_split
from recassay.recommenders.splits import make_split
from recassay.recommenders.study_file import load_study


@checked
def split(
    source: InteractionsLike,
    out: PathLike,
    *,
    form: SplitFormat = "csv",
    protocol: ProtocolSpec | Mapping[str, Any] | None = None,
    read: ReadSpec | Mapping[str, Any] | None = None,
    study: PathLike | None = None,
    replace: bool = False,
) -> SplitExport:
    """Split a dataset as a study would, audit it, and write its parts with `split.json`, which names the fingerprint.

    Lists that a model makes from these files name the split by `split.json` beside them (or by a column `split` with
    the fingerprint), and are then judged on this split and no other: by `recassay.evaluate(lists, split=out)`, or as
    an algorithm of a study.

    Args:
        source: a stored dataset, `synthetic:PRESET`, a file or a frame; with `study`, a dataset of that study.
        out: the folder to write; it must be new or empty.
        form: `csv`, `parquet`, `recbole` (atomic files), `lenskit` (Parquet) or `trec` (CSV and qrels).
        protocol: a `ProtocolSpec` or its fields; by default the protocol of KDD'24.
        read: how a file is read: a `ReadSpec` or its fields.
        study: a study file; its protocol for the dataset `source` is taken, and no other may be given.
        replace: whether a split that lies in `out` is replaced.
    """
    reading: dict[str, Any] = {}
    if study is not None:
        if protocol is not None or read is not None:
            raise UsageError("a study says how its datasets are read and split", fix="leave the protocol out")
        whole = load_study(Path(study))
        names = {name: data for data in whole.datasets for name in (data.reference, data.name)}
        if str(source) not in names:
            fix = did_you_mean(str(source), names)
            raise UsageError(f"the study has no dataset {str(source)!r}", where=str(study), fix=fix)
        dataset = names[str(source)]
        name, spec = dataset.name, dataset_protocol(whole, dataset)
        _refuse_targets(spec)
        made = make_split(dataset, spec, whole.base)
    else:
        spec = ProtocolSpec.of(protocol)
        if spec.split == "given":
            raise UsageError("a given split is made already", fix="choose another split")
        _refuse_targets(spec)
        opened = open_dataset(source, ReadSpec.of(read))
        opened.refuse_positions(spec.split)
        made, name, reading = apply_protocol(opened.interactions, spec, overwrite=True), opened.name, opened.reading
    return export_split(made, Path(out), form=form, dataset=name, protocol=spec, reading=reading, overwrite=replace)


def _refuse_targets(spec: ProtocolSpec) -> None:
    """Files of parts are judged as sets: nothing in them says which event is asked for after which."""
    if spec.target != "all":
        raise UsageError(
            f"target = {spec.target!r} is judged by a study, after histories; parts in files are judged as sets",
            fix="leave the target out, or run the algorithms in a study",
        )
