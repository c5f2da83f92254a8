"""Recommender algorithms. Each is announced by an entry point of the group `recassay.algorithms`."""
