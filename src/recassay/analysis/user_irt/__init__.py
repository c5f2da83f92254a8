"""Logistic IRT with algorithms as respondents and users as items."""
