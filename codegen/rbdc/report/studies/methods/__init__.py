"""Methods of the articles that only studies use."""
