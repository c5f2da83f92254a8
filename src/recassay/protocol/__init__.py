"""From raw interactions to a split that can be trusted: filters, splits, leakage audit, strata, attacks."""

from recassay.protocol.apply import apply_protocol
from recassay.protocol.audit import AuditRecord, Finding, audit_split
from recassay.protocol.filters import binarise, filter_core, filter_once
from recassay.protocol.splits import SPLITS, SplitKind

__all__ = [
    "SPLITS",
    "AuditRecord",
    "Finding",
    "SplitKind",
    "apply_protocol",
    "audit_split",
    "binarise",
    "filter_core",
    "filter_once",
]
