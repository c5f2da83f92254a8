"""Datasets as points in the space of their characteristics."""
