"""Studies of the literature, each repeated by one command: what is measured, the page, the verdicts."""
