"""What happened, kept: an SQLite index, and one Parquet file per cell for scores and for lists."""

from recassay.store.records import CellRecord, StoreStatus, TrialRecord
from recassay.store.store import Store

__all__ = ["CellRecord", "Store", "StoreStatus", "TrialRecord"]
