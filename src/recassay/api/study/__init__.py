"""Verbs on a study of one's own: run it, watch it, seal and verify it, and try an algorithm for it."""
