"""Compare ways of computing the same thing: generated, analytical-recursive, AD, numerical, peers; accuracy, time, size."""
