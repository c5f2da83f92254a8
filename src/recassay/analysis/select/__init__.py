"""Few datasets that keep the ranking."""
