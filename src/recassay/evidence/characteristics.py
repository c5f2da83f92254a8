"""The characteristics of a study's datasets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recassay.core.tables.characteristics import CharacteristicsTable


def study_characteristics(folder: str | Path) -> CharacteristicsTable:
    """The 18 characteristics of a study's datasets as its protocol left them: training, validation and test together.

    They are computed from the splits that the study keeps; of a cross-validation one fold's split serves, its parts
    being the same data.
    """
    import numpy as np

    from recassay.core.errors import NotApplicableError
    from recassay.core.tables.characteristics import CharacteristicsTable
    from recassay.data.characteristics import describe
    from recassay.recommenders.plan import SplitSpec
    from recassay.recommenders.splits import is_prepared, load_split
    from recassay.store.store import Store

    home = Path(folder)
    with Store.open(home) as store:
        cells = [cell for cell in store.cells() if "split" in cell.spec]
    splits = {cell.dataset: SplitSpec.model_validate(cell.spec["split"]).id for cell in cells}
    characteristics = {}
    for name, split_id in splits.items():
        if is_prepared(home, split_id):
            split = load_split(home, split_id)
            characteristics[name] = describe(*split.refit_parts(), split.test).to_dict()
    if not characteristics:
        raise NotApplicableError("the study keeps no interactions to describe", where=str(home))
    names = tuple(next(iter(characteristics.values())))
    values = np.array([[float(row[name]) for name in names] for row in characteristics.values()])
    return CharacteristicsTable(values, tuple(characteristics), names, where=str(home))
