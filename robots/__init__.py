"""Robot descriptions that ship with rbdc; README.md says where each comes from."""
