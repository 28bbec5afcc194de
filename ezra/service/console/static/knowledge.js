// A drawing that is wider than the window begins where the name in its middle is.

for (const one of document.querySelectorAll(".drawing")) {
  const name = one.querySelector(".ring-0 circle")?.getBoundingClientRect();
  if (name) one.scrollLeft += name.x + name.width / 2 - one.getBoundingClientRect().x - one.clientWidth / 2;
}
