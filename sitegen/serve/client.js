// Served by `sitegen serve` only: keeps a tab up to date and shows the author's mistakes over it.
"use strict";
(() => {
  const shown = document.currentScript.dataset.version;
  let events = null;
  let overlay = null;

  const look = new CSSStyleSheet();
  look.replaceSync(`
    :host { position: fixed; inset: auto 0 0 0; max-height: 70vh; overflow: auto; z-index: 2147483647;
            background: Canvas; color: CanvasText; border-top: 4px solid #c22; }
    pre { margin: 0; padding: 1rem 1.5rem; font: 14px/1.5 ui-monospace, monospace; white-space: pre-wrap; }`);

  function show(mistakes) {
    if (overlay?.mistakes === mistakes) return;
    overlay?.remove();
    overlay = null;
    if (!mistakes) return;
    overlay = document.createElement("sitegen-mistakes");
    overlay.mistakes = mistakes;
    overlay.setAttribute("role", "alert");
    const root = overlay.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [look];
    root.append(document.createElement("pre"));
    root.lastChild.textContent = mistakes;
    document.body.append(overlay);
  }

  // The old style holds until the new one has arrived, so that nothing flashes.
  function restyle(styles) {
    for (const old of document.querySelectorAll('link[rel="stylesheet"]')) {
      const path = new URL(old.href).pathname;
      const wanted = styles[path.replace(/\.[0-9a-f]{8}(?=\.css$)/, "")];
      if (!wanted || wanted === path || old.replaced === wanted) continue;
      const link = old.cloneNode();
      link.href = old.replaced = wanted;
      link.onload = () => old.remove();
      old.after(link);
    }
  }

  function update({ version, styles, mistakes, go }) {
    if (go) return location.assign(go);
    if (version !== shown) return location.reload();  // which keeps the place on the page
    restyle(styles);
    show(mistakes);
  }

  // A browser opens few connections to a server: tabs that nobody sees do without, and catch up when they are seen.
  function listen() {
    events?.close();
    events = null;
    if (document.hidden) return;
    events = new EventSource("/_sitegen/events?page=" + encodeURIComponent(location.pathname));
    events.onmessage = (event) => update(JSON.parse(event.data));
  }
  document.addEventListener("visibilitychange", listen);
  listen();
})();
