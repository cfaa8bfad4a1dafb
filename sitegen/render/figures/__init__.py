"""Draw values as SVG: rooflines, bandwidth panels, small charts inside text, and the axes and labels of all of them."""
