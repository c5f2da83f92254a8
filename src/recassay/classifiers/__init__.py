"""The classifier benchmark: classifiers on tables, from a study file to the answers on test instances."""
