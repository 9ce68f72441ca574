// Saves a plan while it is typed, so that nothing is lost if the tab closes. Without it the buttons save.
"use strict";
(() => {
  let form = null, timer = 0; // the form that has changed since it was saved
  async function save(leaving) {
    if (!form) return;
    const body = new FormData(form), address = form.action, said = document.getElementById("saved");
    form = null;
    body.set("do", "keep");
    if (leaving) body.delete("pilot"); // a page that closes may send little
    try {
      const answer = await fetch(address, { method: "POST", body, keepalive: leaving });
      said.textContent = answer.ok ? "Saved." : "Not saved; press Check to see why.";
    } catch { said.textContent = "Not saved: the service does not answer."; }
  }
  document.addEventListener("input", (event) => {
    form = event.target.closest("form[data-save]");
    clearTimeout(timer);
    timer = setTimeout(save, 600, false);
  });
  document.addEventListener("submit", () => { form = null; clearTimeout(timer); });
  addEventListener("pagehide", () => save(true));
})();
