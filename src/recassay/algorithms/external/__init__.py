"""Algorithms from outside: a user's file, a model of another library, a process of its own, finished lists."""
