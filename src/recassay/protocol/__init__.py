"""From raw interactions to a split that can be trusted: filters, splits, leakage audit, strata, attacks."""

from recassay.core.specs.specs import AttackSpec
from recassay.protocol.apply import apply_protocol
from recassay.protocol.attacks import attack, choose_targets
from recassay.protocol.audit import AuditRecord, Finding, audit_split
from recassay.protocol.filters import binarise, filter_core, filter_once
from recassay.protocol.splits import SPLITS, SplitKind
from recassay.protocol.strata import PopularityStrata, Stratum, popularity_strata

__all__ = [
    "SPLITS",
    "AttackSpec",
    "AuditRecord",
    "Finding",
    "PopularityStrata",
    "SplitKind",
    "Stratum",
    "apply_protocol",
    "attack",
    "audit_split",
    "binarise",
    "choose_targets",
    "filter_core",
    "filter_once",
    "popularity_strata",
]
