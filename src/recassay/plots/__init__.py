"""Charts: each takes a Result of an analysis and returns an Altair chart. Nothing is computed here."""
