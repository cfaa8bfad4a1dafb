"""Model and records → pages: values in, strings out; no clock, no files, no network."""
