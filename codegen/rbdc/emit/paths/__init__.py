"""The C of loops along the paths of the tree: kernels over rows of limbs, second derivatives."""
