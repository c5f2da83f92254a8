"""What was asked: frozen specifications, studies, search spaces, algorithms of other environments."""
