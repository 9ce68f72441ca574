// Keeps the page of an experiment fresh, and tells the numbers of its pictures. Without it the page still works.
"use strict";
(() => {
  const main = document.querySelector("main[data-live]"), xmlns = "http://www.w3.org/2000/svg";
  const printed = document.getElementById("printed");
  if (printed) addEventListener("beforeprint", () => { printed.textContent = new Date().toLocaleString(); });

  // Pictures: under the pointer, and with the arrow keys, a line shows a place, and below stand the values there.
  function read(plot, first) {
    const told = document.createElement("p");
    let svg, data, last, here, low, high, top, bottom, at = -1, from = null, asked = false;
    told.className = "told soft";
    told.made = true;
    plot.after(told);
    plot.show = (picture) => {
      svg = picture;
      data = JSON.parse(svg.dataset.curves);
      [low, high, top, bottom] = data.y;
      const newest = at < 0 || at === last;
      last = data.x.length - 1;
      here = document.createElementNS(xmlns, "g");
      plot.replaceChildren(svg);
      svg.append(here);
      plot.source = svg.dataset.curves;
      const about = { role: "slider", tabindex: "0", "aria-valuemin": 0, "aria-valuemax": last, "aria-valuenow": last,
        "aria-label": `Values of: ${svg.getAttribute("aria-label")}` };
      Object.entries(about).forEach(([name, value]) => plot.setAttribute(name, value));
      if (!asked && first) told.textContent = `Point at a picture, or use the arrow keys, to read its values${data.times ? "; drag to see a period" : ""}.`;
      if (asked) tell(newest ? last : at);
      else at = last;
    };
    const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 }).replace("-", "−");
    function draw(tag, parts, kind) {
      const it = document.createElementNS(xmlns, tag);
      it.setAttribute("class", kind);
      Object.entries(parts).forEach(([name, value]) => it.setAttribute(name, value));
      here.append(it);
    }
    function tell(place) {
      asked = true;
      at = Math.min(last, Math.max(0, place));
      const values = data.names.map((name, i) => [name, data.values[i][at], data.colours[i], data.ends?.[i][at]]).filter((it) => it[1] !== null);
      values.sort((a, b) => b[1] - a[1]);
      here.replaceChildren();
      draw("line", { x1: data.x[at], x2: data.x[at], y1: top, y2: bottom }, "here");
      if (from !== null) draw("line", { x1: data.x[from], x2: data.x[from], y1: top, y2: bottom }, "here");
      told.textContent = `${data.at[at]}:`;
      values.forEach(([name, value, colour, ends]) => {
        const share = Math.min(1, Math.max(0, (value - low) / (high - low || 1))), word = document.createElement("b");
        if (colour !== null) draw("circle", { cx: data.x[at], cy: bottom - share * (bottom - top), r: 4 }, `here s${colour}`);
        word.className = colour === null ? "" : `s${colour}`;
        word.textContent = `${name} ${number(value)}${data.unit || ""}`;
        told.append(" ", word, ends ? ` (${number(ends[0])} to ${number(ends[1])})` : "");
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
  const readAll = (inside) => inside.querySelectorAll("svg[data-curves]").forEach((svg, i) => {
    if (!svg.parentElement.show) read(svg.parentElement, i === 0);
    if (svg.parentElement.source !== svg.dataset.curves) svg.parentElement.show(svg);
  });
  readAll(document);
  if (!main) return;

  // What has changed is changed in place, so that focus, selection, scrolling and what is being typed stay as they are.
  const key = (it) => [it.nodeName, it.id, ...["class", "action", "aria-labelledby", "name"].map((name) => it.getAttribute?.(name))].join(" ");
  const parts = (it) => [...it.childNodes].filter((part) => !part.made && (part.nodeType === 1 || part.data?.trim()));
  const typed = (it) => it === document.activeElement || (it.options ? it.selectedIndex !== Math.max(0, [...it.options].findIndex((one) => one.defaultSelected)) : it.value !== it.defaultValue);
  function morph(old, fresh) {
    if (old.nodeType !== 1) { if (old.data !== fresh.data) old.data = fresh.data; return; }
    if (old.matches(".plot") && old.show && fresh.firstElementChild) {
      if (old.source !== fresh.firstElementChild.dataset.curves) old.show(fresh.firstElementChild);
      return;
    }
    if (old.matches("input, select, textarea") && typed(old)) return;
    [...fresh.attributes].forEach(({ name, value }) => { if (old.getAttribute(name) !== value) old.setAttribute(name, value); });
    [...old.attributes].forEach(({ name }) => { if (name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name); });
    let olds = parts(old);
    parts(fresh).forEach((part) => {
      const at = olds.findIndex((it) => key(it) === key(part));
      if (at < 0) { old.insertBefore(part, olds[0] || null); return; }
      olds.slice(0, at).forEach((it) => it.remove());
      morph(olds[at], part);
      olds = olds.slice(at + 1);
    });
    olds.forEach((it) => it.remove());
  }
  let wait = Number(main.dataset.wait || 2000), tag = `"${main.dataset.seq}"`;
  const busy = () => main.querySelector(".plot:hover");
  async function look() {
    if (!document.hidden && !busy()) {
      try {
        const answer = await fetch(main.dataset.live, { headers: { "If-None-Match": tag }, cache: "no-store" });
        if (answer.status === 200) {
          tag = answer.headers.get("ETag");
          const fresh = new DOMParser().parseFromString(`<main>${await answer.text()}</main>`, "text/html").querySelector("main");
          [...main.attributes].forEach(({ name, value }) => fresh.setAttribute(name, value));
          morph(main, fresh);
          readAll(main);
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
