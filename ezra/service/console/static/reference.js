// Trying out what /docs describes: requests go to this server alone, and the token is kept nowhere.

const CHARS_SHOWN = 100000;

function request(form, token) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  let body;
  for (const field of form.querySelectorAll("[data-in]")) {
    const value = field.value.trim();
    const place = field.dataset.in;
    if (place === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(value));
    else if (!value) continue;
    else if (place === "query") query.append(field.name, value);
    else if (place === "header") headers[field.name] = value;
    else body = value;
  }
  if (token) headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const asked = query.size ? `${path}?${query}` : path;
  return [asked, { method: form.dataset.verb, headers, body, credentials: "omit", redirect: "error" }];
}

function shown(text) {
  try {
    text = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // As it came.
  }
  return text.length > CHARS_SHOWN ? `${text.slice(0, CHARS_SHOWN)}\n\u2026` : text;
}

async function attempt(form) {
  const answer = form.querySelector("output");
  const head = document.createElement("p");
  const content = document.createElement("pre");
  content.tabIndex = 0;
  answer.replaceChildren(head, content);
  answer.hidden = false;
  head.textContent = "asking \u2026";
  const began = performance.now();
  try {
    const [path, options] = request(form, document.getElementById("token").value.trim());
    const said = await fetch(path, options);
    content.textContent = shown(await said.text());
    const milliseconds = Math.round(performance.now() - began);
    head.textContent = `${said.status} ${said.statusText} \u00b7 ${milliseconds} ms \u00b7 ${options.method} ${path}`;
  } catch (problem) {
    head.textContent = `no answer: ${problem.message}`;
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form.attempt")) return;
  event.preventDefault();
  attempt(event.target);
});

document.getElementById("only")?.addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const one of document.querySelectorAll("[data-words]")) {
    const said = one.dataset.words.toLowerCase();
    one.hidden = !words.every((word) => said.includes(word));
  }
  for (const group of document.querySelectorAll(".group")) {
    group.hidden = !group.querySelector("[data-words]:not([hidden])");
  }
});

function opened() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.tagName === "DETAILS") {
    target.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", opened);
opened();
