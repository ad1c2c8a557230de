"""One file a format: each turns a source into `Fields`."""
