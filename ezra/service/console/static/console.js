// What makes the console move: live sections, lists that load as they are scrolled, forms that
// answer while they are typed in, and keys. Every page can be read and used without it.

const FRAGMENT = { "x-ezra-fragment": "1" };
const ROWS_MAX = 500;
const NEAR_PX = 900;
const WAIT_MS = 120;
const RETRY_MS = 5000;
const GO_MS = 1500;

async function fetched(address, signal) {
  const answer = await fetch(address, { headers: FRAGMENT, credentials: "same-origin", signal });
  if (answer.status === 401) {
    location.reload(); // the session is over: the page itself leads to signing in
    throw new DOMException("signed out", "AbortError");
  }
  if (answer.status >= 502) throw new Error(`status ${answer.status}`);
  return answer.text();
}

function parsed(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content;
}

function tellOffline(is) {
  const notice = document.getElementById("offline");
  if (notice) notice.hidden = !is;
}

// -- replacing in place: focus, opened details and inner scrolling stay as they were

function nameOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  for (const name of ["data-id", "href", "name"]) {
    const value = element.getAttribute(name);
    if (value) return `${element.localName}[${name}="${CSS.escape(value)}"]`;
  }
  return null;
}

// What can be opened, by its own name, or by its place in the row that has one.
function foldsOf(target) {
  const named = (one) => {
    if (one.dataset.id) return one.dataset.id;
    const row = one.closest("[data-id]");
    return row && target.contains(row) && `${row.dataset.id} ${[...row.querySelectorAll("details")].indexOf(one)}`;
  };
  return [...target.querySelectorAll("details")].map((one) => [named(one), one]).filter(([name]) => name);
}

function replace(target, text) {
  const active = target.contains(document.activeElement) ? document.activeElement : null;
  const focused = active && active !== target ? nameOf(active) : null;
  const folds = foldsOf(target);
  const opened = new Set(folds.filter(([, one]) => one.open).map(([name]) => name));
  const heading = folds.find(([, one]) => active && one.firstElementChild === active)?.[0];
  const scrolled = [...target.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  const known = new Set([...target.querySelectorAll("[data-id]")].map((one) => one.dataset.id));
  const content = parsed(text);
  const only = content.childElementCount === 1 ? content.firstElementChild : null;
  const isSame = only && target.dataset.live && only.dataset.live === target.dataset.live;
  target.replaceChildren(...(isSame ? only : content).childNodes);
  for (const one of target.querySelectorAll("[data-id]")) {
    if (known.size && !known.has(one.dataset.id)) one.classList.add("fresh");
  }
  for (const [name, one] of foldsOf(target)) {
    if (opened.has(name)) one.open = true;
    if (name === heading) one.firstElementChild.focus({ preventScroll: true });
  }
  target.querySelectorAll(".scroll").forEach((one, index) => { one.scrollLeft = scrolled[index] ?? 0; });
  if (focused) target.querySelector(focused)?.focus({ preventScroll: true });
  begin(target);
  target.dispatchEvent(new CustomEvent("console:replaced", { bubbles: true }));
}

// -- <section data-live="address" data-every="seconds">

const last = new WeakMap();

async function refresh(section) {
  if (!section.isConnected) return;
  let wait = Math.max(1, Number(section.dataset.every) || 2) * 1000;
  if (!document.hidden) {
    try {
      const text = await fetched(section.dataset.live);
      if (last.get(section) !== text) {
        last.set(section, text);
        replace(section, text);
      }
      section.classList.remove("stale");
      tellOffline(false);
    } catch (error) {
      if (error.name === "AbortError") return;
      section.classList.add("stale");
      tellOffline(true);
      wait = RETRY_MS;
    }
  }
  setTimeout(refresh, wait, section);
}

// -- <a data-more="address"> in a list: its rows come in portions, and those far away give room

class List {
  constructor(rows) {
    this.rows = rows;
    this.portions = [this.portion([...rows.children].filter((one) => !one.classList.contains("more")))];
    this.seen = new IntersectionObserver((entries) => this.look(entries), { rootMargin: `${NEAR_PX}px 0px` });
    this.watch();
  }

  portion(rows) {
    const isTable = this.rows.localName === "tbody";
    const spacer = document.createElement(isTable ? "tr" : "li");
    spacer.className = "spacer";
    spacer.setAttribute("aria-hidden", "true");
    if (isTable) spacer.append(document.createElement("td"));
    return { rows, spacer, isIn: true };
  }

  watch() {
    const link = this.rows.querySelector(":scope > .more a[data-more]");
    if (link) this.seen.observe(link.closest(".more"));
  }

  look(entries) {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      if (target.classList.contains("more")) this.load(target);
      else this.bring(this.portions.find((one) => one.spacer === target));
    }
  }

  async load(place) {
    this.seen.unobserve(place);
    const link = place.querySelector("a[data-more]");
    try {
      const rows = [...parsed(await fetched(link.dataset.more)).children];
      const hadFocus = place.contains(document.activeElement);
      place.before(...rows);
      place.remove();
      const real = rows.filter((one) => !one.classList.contains("more"));
      this.portions.push(this.portion(real));
      real.forEach(begin);
      if (hadFocus) real[0]?.querySelector("a, button, summary")?.focus();
      this.spare();
      this.watch();
      tellOffline(false);
    } catch (error) {
      if (error.name === "AbortError") return;
      tellOffline(true);
      setTimeout(() => this.seen.observe(place), RETRY_MS);
    }
  }

  bring(portion) {
    if (!portion || portion.isIn) return;
    this.seen.unobserve(portion.spacer);
    portion.spacer.replaceWith(...portion.rows);
    portion.isIn = true;
    this.spare();
  }

  spare() {
    const middle = window.innerHeight / 2;
    const away = (one) => {
      const top = one.rows[0].getBoundingClientRect().top;
      const bottom = one.rows.at(-1).getBoundingClientRect().bottom;
      return top > middle ? top - middle : bottom < middle ? middle - bottom : 0;
    };
    const shown = this.portions.filter((one) => one.isIn && one.rows.length);
    let count = shown.reduce((sum, one) => sum + one.rows.length, 0);
    for (const one of shown.map((one) => [away(one), one]).sort((a, b) => b[0] - a[0])) {
      if (count <= ROWS_MAX || one[0] < window.innerHeight) break;
      if (one[1].rows.some((row) => row.contains(document.activeElement))) continue;
      this.putAway(one[1]);
      count -= one[1].rows.length;
    }
  }

  putAway(portion) {
    const height = portion.rows.at(-1).getBoundingClientRect().bottom - portion.rows[0].getBoundingClientRect().top;
    const inner = portion.spacer.firstElementChild ?? portion.spacer;
    inner.style.height = `${height}px`;
    portion.rows[0].before(portion.spacer);
    portion.rows.forEach((row) => row.remove());
    portion.isIn = false;
    this.seen.observe(portion.spacer);
  }
}

// -- <form data-instant="address" data-into="#part">: the part follows what is typed

function instant(form) {
  let timer = 0;
  let under = null;
  const send = async () => {
    under?.abort();
    under = new AbortController();
    const query = new URLSearchParams(new FormData(form));
    query.delete("csrf");
    for (const [name, value] of [...query]) if (!value) query.delete(name);
    const target = document.querySelector(form.dataset.into);
    try {
      const text = await fetched(`${form.dataset.instant}?${query}`, under.signal);
      if (target) replace(target, text);
      history.replaceState(null, "", `${new URL(form.action).pathname}?${query}`);
      tellOffline(false);
    } catch (error) {
      if (error.name !== "AbortError") tellOffline(true);
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(send, WAIT_MS);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    send();
  });
}

// -- a form that acts is sent once: pressed again while it is on its way, it would act twice

function sendOnce(event) {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.hasAttribute("aria-busy")) event.preventDefault();
  form.setAttribute("aria-busy", "true");
}

function back(event) {
  if (event.persisted) for (const form of document.querySelectorAll("form[aria-busy]")) form.removeAttribute("aria-busy");
}

// -- keys

let going = 0;

function isTyping(target) {
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

function step(by) {
  const rows = [...document.querySelectorAll("[data-rows] > :not(.more, .spacer)")];
  const links = rows.map((row) => row.querySelector("a, summary, button")).filter(Boolean);
  const row = document.activeElement.closest("[data-rows] > *");
  const at = links.findIndex((one) => row?.contains(one));
  links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

function search() {
  const field = document.querySelector("[data-search]");
  if (field) field.focus();
  else document.querySelector('[data-go="s"]')?.click();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  if (Date.now() - going < GO_MS) {
    going = 0;
    const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
    if (link) {
      event.preventDefault();
      link.click();
    }
    return;
  }
  const acts = { "/": search, "?": openKeys, j: () => step(1), k: () => step(-1), g: () => { going = Date.now(); } };
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function openKeys() {
  document.getElementById("keys")?.showModal();
}

// -- beginning

function all(root, selector) {
  const found = [...root.querySelectorAll(selector)];
  return root.matches?.(selector) ? [root, ...found] : found;
}

const begun = new WeakSet();

function begin(root) {
  const kinds = [
    ["[data-live]", (one) => setTimeout(refresh, Math.max(1, Number(one.dataset.every) || 2) * 1000, one)],
    ["form[data-instant]", instant],
    ["[data-rows]", (one) => new List(one)],
  ];
  for (const [selector, start] of kinds) {
    for (const one of all(root, selector)) {
      if (begun.has(one)) continue;
      begun.add(one);
      start(one);
    }
  }
}

begin(document);
// Where the navigation is wider than the screen, it begins at the page that is open.
for (const here of document.querySelectorAll("nav a[aria-current]")) here.scrollIntoView({ block: "nearest", inline: "center" });
document.addEventListener("keydown", onKey);
document.addEventListener("submit", sendOnce);
window.addEventListener("pageshow", back);
document.addEventListener("click", (event) => { if (event.target.closest("[data-keys]")) openKeys(); });
document.documentElement.dataset.ready = "1";
performance.mark("console-ready");
