"""What a paper takes from a study: the main table, ranks, figures, the setup and the references."""
