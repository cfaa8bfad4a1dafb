"""The site while it is written: follows every save, shows it on this machine only, keeps the browser up to date."""
