"""Glicko-2 ratings over datasets."""
