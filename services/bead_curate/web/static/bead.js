// The admin page's only script. Every page works without it; it adds search as you type, the live feed and keys.
"use strict";

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// HTML that our own server has rendered and escaped; a template runs no script.
function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

// -- search as you type ----------------------------------------------------------------------------------------------
function searchAsYouType(form) {
  let waiting = 0;
  let running = null;
  const list = one("#results");
  const status = one("#search-status");

  async function refresh() {
    running?.abort();
    running = new AbortController();
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    const address = `${form.action}?${query}`;
    query.set("part", "list");
    try {
      const answer = await fetch(`${form.action}?${query}`, { signal: running.signal });
      if (!answer.ok) { location.assign(address); return; }
      list.replaceChildren(parsed(await answer.text()));
      status.textContent = one("[data-total]", list)?.dataset.total ?? "";
      history.replaceState(null, "", address);
    } catch (error) {
      if (error.name !== "AbortError") status.textContent = "The page does not answer; is bead running?";
    }
  }

  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 60);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); refresh(); });
  one("button[type=submit]", form)?.remove();
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !isTyping(event)) { event.preventDefault(); one("input[type=search]", form).focus(); }
  });
}

// -- live ------------------------------------------------------------------------------------------------------------
function live(feed) {
  const state = one("#live-state");
  const events = new EventSource(`${feed.dataset.events}?after=${feed.dataset.last}`);
  events.addEventListener("open", () => { state.textContent = "Listening"; });
  events.addEventListener("error", () => { state.textContent = "Not connected; trying again"; });
  events.addEventListener("turn", (event) => {
    one(".empty")?.remove();
    const turn = parsed(event.data);
    turn.firstElementChild.classList.add("fresh");
    feed.prepend(turn);
    all(":scope > li", feed).slice(100).forEach((old) => old.remove());
  });
  addEventListener("pagehide", () => events.close());
}

// -- review by keys --------------------------------------------------------------------------------------------------
function reviewByKeys(queue) {
  const items = all("[data-item]", queue);
  let at = Math.max(0, items.findIndex((item) => `#${item.id}` === location.hash));
  const go = (to) => {
    at = Math.min(Math.max(to, 0), items.length - 1);
    items[at]?.focus();
    items[at]?.scrollIntoView({ block: "nearest" });
  };
  const press = (name) => one(`[data-key="${name}"]`, items[at])?.click();
  items.forEach((item, number) => item.addEventListener("focusin", () => { at = number; }));
  document.addEventListener("keydown", (event) => {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { j: () => go(document.activeElement === items[at] ? at + 1 : at), k: () => go(at - 1),
      a: () => press("a"), r: () => press("r"), e: () => edit(items[at]) }[event.key];
    if (act && items.length) { event.preventDefault(); act(); }
  });
}

function edit(item) {
  const box = one("details.edit", item);
  if (!box) return;
  box.open = true;
  one("textarea", box).focus();
}

// -- everywhere ------------------------------------------------------------------------------------------------------
function isTyping(event) {
  return event.target.matches("input, textarea, select") || event.target.isContentEditable;
}

function localTimes() {
  const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  all("time[datetime]").forEach((time) => { time.title = full.format(new Date(time.dateTime)); });
}

const form = one("form[data-search]");
if (form) searchAsYouType(form);
const feed = one("[data-events]");
if (feed) live(feed);
const queue = one("[data-review]");
if (queue) reviewByKeys(queue);
all("select[data-submits]").forEach((select) => select.addEventListener("change", () => select.form.submit()));
all("[data-script-only]").forEach((element) => { element.hidden = false; });
localTimes();
