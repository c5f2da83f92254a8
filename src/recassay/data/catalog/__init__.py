"""Known public datasets."""
