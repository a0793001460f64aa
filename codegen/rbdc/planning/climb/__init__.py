"""Functions of a frame: a climb finds the path from the frame to the root, and loops run over this path."""
