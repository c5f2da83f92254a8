"""What lists do for groups of users and of items, and whether weighting by exposure changes who leads."""
