"""The records of trees with contacts and closed loops."""
