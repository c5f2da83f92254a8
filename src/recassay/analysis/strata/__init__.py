"""Popularity-stratified evaluation."""
