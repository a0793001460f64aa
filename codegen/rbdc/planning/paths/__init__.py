"""Second derivatives by paths: loops over the degrees of freedom on each path of the tree."""
