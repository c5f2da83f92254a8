"""Interactions with known truth."""
