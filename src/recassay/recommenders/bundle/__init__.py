"""Bundles: what one algorithm came to on a benchmark, made, read, checked and run again."""
