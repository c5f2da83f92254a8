"""Classifiers on test instances: 3PL, Glicko-2 tournaments, subsets of a benchmark."""
