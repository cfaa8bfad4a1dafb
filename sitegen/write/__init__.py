"""Write rendered files to the output folder, caches to the user's folder, and the files of a new site or post."""
