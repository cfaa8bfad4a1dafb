"""The site while it is written: builds on every change, shows it on this machine only, reloads the browser."""
