"""How rankings bear perturbation."""
