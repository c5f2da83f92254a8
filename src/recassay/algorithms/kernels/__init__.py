"""What several algorithms compute: counts, products, similarities, pairs, lists; compiled, and on a GPU."""
