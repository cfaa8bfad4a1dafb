"""Provide what all pages share: templates, theme, language, numbers as text, and the frame around a page."""
