"""The study of recommenders: what is planned, and how one of its cells is prepared, tuned, fitted and judged."""
