"""Estimates and tests: each function takes a Matrix or Results and returns a frozen Result."""
