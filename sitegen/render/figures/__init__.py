"""Values → SVG: rooflines, panels, small charts inside text, and the axes and labels that they need."""
