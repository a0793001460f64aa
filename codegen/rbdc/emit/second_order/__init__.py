"""C of second derivatives: loops over the degrees of freedom along the paths of the tree."""
