"""One hierarchical model of scores: who is best, by how much, how surely, and what more would tell."""
