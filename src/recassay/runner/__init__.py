"""Running a study: a plan of cells, tuned and judged in processes of their own, kept in a store."""
