"""Records of measurements: keys, freshness with reasons, the JSON store, figures, comparison.  Pure but for `store`."""
