"""Functions of a frame: loops over the path from the frame to the root, which the climb has found."""
