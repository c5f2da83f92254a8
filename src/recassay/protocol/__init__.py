"""From raw interactions to a split that can be trusted: filters, splits, leakage audit, strata, attacks."""
