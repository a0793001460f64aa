"""Functions whose results are solutions of one system, columns side by side in the lanes of vectors."""
