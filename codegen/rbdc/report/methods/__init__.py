"""The methods of computing a function that a comparison compiles, and the records of methods and peers."""
