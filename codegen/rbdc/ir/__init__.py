"""The intermediate representation: straight-line programs, passes over them, their cost."""
