"""Groups of alike datasets."""
