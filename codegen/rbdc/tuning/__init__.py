"""`rbdc.build`, and tuning: measurements before a build."""
