"""Aggregations over datasets with their uncertainty."""
