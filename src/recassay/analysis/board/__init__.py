"""A board: who has a place on it, what it supports, and what would change that."""
