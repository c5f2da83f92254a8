"""Ratings on the Elo scale that do not depend on the order of the datasets."""
