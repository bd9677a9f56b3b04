// Single keys for whoever rates. The page is a plain form and works without this file.

const form = document.querySelector("#ballot");
const toggle = document.querySelector("#keys");
const picks = form ? [...form.querySelectorAll("[data-key]")] : [];
const typing = (target) => target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");

const remember = {
  get on() { try { return localStorage.getItem("proofshelf-keys") !== "off"; } catch { return true; } },
  set on(yes) { try { localStorage.setItem("proofshelf-keys", yes ? "on" : "off"); } catch { /* not kept */ } },
};

function keysOn() {
  return !toggle || toggle.checked;
}

// What the rubric refuses can't be chosen: categories without an inclusion, a field without its category.
function settle() {
  const decided = form.querySelector("[name=decision]:checked")?.value;
  const categories = form.querySelector("#categories");
  if (categories) categories.disabled = decided !== undefined && decided !== "in_scope";
  const chosen = [...form.querySelectorAll("[name=category]:checked:enabled")].map((box) => box.value);
  if (decided === "in_scope") chosen.push(form.dataset.topic);
  if (decided === "insufficient_payload") chosen.push(form.dataset.cannot);
  for (const field of form.querySelectorAll("[data-when]")) field.disabled = !chosen.includes(field.dataset.when);
}

// A category that stands alone leaves no other beside it.
function alone(changed) {
  if (changed.name !== "category" || !changed.checked) return;
  for (const box of form.querySelectorAll("[name=category]:checked")) {
    if (box !== changed && (changed.hasAttribute("data-alone") || box.hasAttribute("data-alone"))) box.checked = false;
  }
}

function pick(input) {
  if (input.name === "category") {
    form.querySelector('[name=decision][value="in_scope"]').checked = true;
    settle();
  }
  input.checked = input.type === "radio" ? true : !input.checked;
  input.focus();
  alone(input);
  settle();
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const { target, key } = event;
  const follow = (id) => { const found = document.querySelector(id); if (found) { event.preventDefault(); found.click(); } };
  if (target.matches?.("textarea, select")) {
    if (key === "Escape") target.blur();
    if (key === "Enter" && !event.shiftKey && target.matches("textarea")) follow("#send");
    return;
  }
  if (key === "Enter") {
    if (form && !target.matches?.("a, button, summary")) follow("#send");
    return;
  }
  if (!keysOn() || typing(target)) return;
  const found = picks.find((input) => input.dataset.key === key.toLowerCase());
  if (found) {
    event.preventDefault();
    pick(found);
  } else if (key === "s") follow("#skip");
  else if (key === "z") follow("#undo");
  else if (key === "r" && form) {
    event.preventDefault();
    form.elements.reason.focus();
  }
}

document.documentElement.classList.toggle("has-keys", remember.on);
document.addEventListener("keydown", press);
if (form) {
  toggle.closest(".keys").hidden = false;
  toggle.checked = remember.on;
  toggle.addEventListener("change", () => {
    remember.on = toggle.checked;
    document.documentElement.classList.toggle("has-keys", toggle.checked);
  });
  form.addEventListener("change", (event) => { alone(event.target); settle(); });
  // Sent once: what is on its way isn't sent again. Coming back to the page makes it free again.
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
  window.addEventListener("pageshow", () => { delete form.dataset.sent; settle(); });
  settle();
}
document.querySelector(".trouble")?.scrollIntoView({ block: "nearest" });
