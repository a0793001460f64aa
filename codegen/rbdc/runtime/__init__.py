"""What a generated module needs at run time, and loading one."""
