// Served by `sitegen serve` only: reloads the page when the site changed, shows the author's mistakes over it.
"use strict";
(() => {
  let seen = null;
  let overlay = null;

  const style = new CSSStyleSheet();
  style.replaceSync(`
    :host { position: fixed; inset: auto 0 0 0; max-height: 70vh; overflow: auto; z-index: 2147483647;
            background: Canvas; color: CanvasText; border-top: 4px solid #c22; }
    pre { margin: 0; padding: 1rem 1.5rem; font: 14px/1.5 ui-monospace, monospace; white-space: pre-wrap; }`);

  function show(mistakes) {
    overlay?.remove();
    overlay = null;
    if (!mistakes) return;
    overlay = document.createElement("sitegen-mistakes");
    overlay.setAttribute("role", "alert");
    const root = overlay.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [style];
    root.append(document.createElement("pre"));
    root.lastChild.textContent = mistakes;
    document.body.append(overlay);
  }

  new EventSource("/_sitegen/events").onmessage = (event) => {
    const { version, mistakes } = JSON.parse(event.data);
    if (seen !== null && seen !== version && !mistakes) location.reload();
    seen = version;
    show(mistakes);
  };
})();
