"""Serve a preview of the site on this machine only; follow every save, and keep the browser up to date."""
