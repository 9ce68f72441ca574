// Keeps the page of an experiment fresh while it is looked at. Without it the page still works.
"use strict";
(() => {
  const main = document.querySelector("main[data-live]");
  const printed = document.getElementById("printed");
  if (printed) addEventListener("beforeprint", () => { printed.textContent = new Date().toLocaleString(); });
  if (!main) return;
  let wait = 2000, tag = `"${main.dataset.seq}"`;
  const busy = () => main.contains(document.activeElement) && document.activeElement.closest("form");
  async function look() {
    if (!document.hidden && !busy()) {
      try {
        const answer = await fetch(main.dataset.live, { headers: { "If-None-Match": tag }, cache: "no-store" });
        if (answer.status === 200) {
          tag = answer.headers.get("ETag");
          const open = [...main.querySelectorAll("details")].map((part) => part.open);
          main.innerHTML = await answer.text();
          main.querySelectorAll("details").forEach((part, i) => { part.open = open[i] || false; });
          wait = 2000;
        } else if (answer.status === 304) wait = Math.min(30000, wait * 1.5);
        else if (answer.status === 401) location.reload();
      } catch { wait = Math.min(30000, wait * 2); }
    }
    setTimeout(look, wait);
  }
  setTimeout(look, wait);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) wait = 2000; });
})();
