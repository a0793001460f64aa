"""C of the recursions as loops over constant tables of the model."""
