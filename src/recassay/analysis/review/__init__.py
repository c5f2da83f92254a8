"""Checks of a paper: tables and sentences in, flags out."""
