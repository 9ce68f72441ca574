// Keeps the page of an experiment fresh, and tells the numbers of its pictures. Without it the page still works.
"use strict";
(() => {
  const main = document.querySelector("main[data-live]"), xmlns = "http://www.w3.org/2000/svg";
  const printed = document.getElementById("printed");
  if (printed) addEventListener("beforeprint", () => { printed.textContent = new Date().toLocaleString(); });

  // Pictures: under the pointer, and with the arrow keys, a line shows a place, and below stand the values there.
  function read(svg, first) {
    const data = JSON.parse(svg.dataset.curves), plot = svg.parentElement, told = document.createElement("p");
    const last = data.x.length - 1, here = document.createElementNS(xmlns, "g"), [low, high, top, bottom] = data.y;
    let at = last, from = null;
    told.className = "told soft";
    if (first) told.textContent = `Point at a picture, or use the arrow keys, to read its values${data.times ? "; drag to see a period" : ""}.`;
    plot.after(told);
    svg.append(here);
    Object.entries({ role: "slider", tabindex: "0", "aria-valuemin": 0, "aria-valuemax": last, "aria-valuenow": last,
      "aria-label": `Values of: ${svg.getAttribute("aria-label")}` }).forEach(([name, value]) => plot.setAttribute(name, value));
    const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 }).replace("-", "−");
    function draw(tag, parts, kind) {
      const it = document.createElementNS(xmlns, tag);
      it.setAttribute("class", kind);
      Object.entries(parts).forEach(([name, value]) => it.setAttribute(name, value));
      here.append(it);
    }
    function tell(place) {
      at = Math.min(last, Math.max(0, place));
      const values = data.names.map((name, i) => [name, data.values[i][at], data.colours[i]]).filter((it) => it[1] !== null);
      values.sort((a, b) => b[1] - a[1]);
      here.replaceChildren();
      draw("line", { x1: data.x[at], x2: data.x[at], y1: top, y2: bottom }, "here");
      if (from !== null) draw("line", { x1: data.x[from], x2: data.x[from], y1: top, y2: bottom }, "here");
      told.textContent = `${data.at[at]}:`;
      values.forEach(([name, value, colour]) => {
        const share = Math.min(1, Math.max(0, (value - low) / (high - low || 1))), word = document.createElement("b");
        if (colour !== null) draw("circle", { cx: data.x[at], cy: bottom - share * (bottom - top), r: 4 }, `here s${colour}`);
        word.className = colour === null ? "" : `s${colour}`;
        word.textContent = `${name} ${number(value)}`;
        told.append(" ", word);
      });
      plot.setAttribute("aria-valuenow", at);
      plot.setAttribute("aria-valuetext", told.textContent);
    }
    function nearest(event) {
      const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
      return data.x.reduce((best, it, i) => (Math.abs(it - x) < Math.abs(data.x[best] - x) ? i : best), 0);
    }
    plot.addEventListener("pointermove", (event) => tell(nearest(event)));
    plot.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse" && data.times) from = nearest(event); });
    plot.addEventListener("pointerup", (event) => {
      const [begin, end] = [from, nearest(event)].sort((a, b) => a - b);
      const wide = from !== null && end > begin;
      from = null;
      if (wide) {
        const there = new URL(location.href);
        there.searchParams.delete("last");
        there.searchParams.set("begin", data.times[begin]);
        there.searchParams.set("end", data.times[end]);
        location.assign(there);
      }
    });
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowDown: at - 1, ArrowUp: at + 1, Home: 0, End: last }[event.key];
      if (step !== undefined) { event.preventDefault(); tell(step); }
    });
  }
  const readAll = () => document.querySelectorAll("svg[data-curves]").forEach((svg, i) => read(svg, i === 0));
  readAll();
  if (!main) return;
  let wait = Number(main.dataset.wait || 2000), tag = `"${main.dataset.seq}"`;
  const busy = () => main.contains(document.activeElement) && document.activeElement.closest("form, .plot") || main.querySelector(".plot:hover");
  async function look() {
    if (!document.hidden && !busy()) {
      try {
        const answer = await fetch(main.dataset.live, { headers: { "If-None-Match": tag }, cache: "no-store" });
        if (answer.status === 200) {
          tag = answer.headers.get("ETag");
          const open = [...main.querySelectorAll("details")].map((part) => part.open);
          main.innerHTML = await answer.text();
          main.querySelectorAll("details").forEach((part, i) => { part.open = open[i] || false; });
          readAll();
          wait = Number(main.dataset.wait || 2000);
        } else if (answer.status === 304) wait = Math.min(30000, wait * (main.dataset.wait ? 1 : 1.5));
        else if (answer.status === 401) location.reload();
      } catch { wait = Math.min(30000, wait * 2); }
    }
    setTimeout(look, wait);
  }
  setTimeout(look, wait);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) wait = 2000; });
})();
