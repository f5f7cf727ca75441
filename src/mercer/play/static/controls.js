// The machine: learner, kernel, sliders, seed.

import { debounced } from "./api.js";
import { find, make } from "./elements.js";
import { slider } from "./slider.js";
import { moved } from "./timings.js";

/** The learner of a scene as /api/choices describes it. */
export function learnerOf(choices, scene) {
  return choices.learners[scene.task].find((one) => one.name === scene.learner) ?? choices.learners[scene.task][0];
}

/** Sliders that change something: γ only where the kernel has a “?” for it. */
export function slidersOf(choices, scene) {
  return learnerOf(choices, scene).sliders.filter((name) => name !== "gamma" || scene.kernel.includes("?"));
}

export function controls(root, store, choices) {
  const learner = find("#learner", root);
  const learnerHelp = find("#learner-help", root);
  const seed = find("#seed", root);
  const sliders = Object.fromEntries(
    Object.entries(choices.sliders).map(([name, description]) => [
      name,
      slider(name, description, (value, at, done) => {
        if (value !== store.scene[name]) store.update({ [name]: value }, `slide ${name}`);
        if (done) store.endGroup();
        else moved(store.version, at);
      }),
    ]),
  );
  find("#sliders", root).append(...Object.values(sliders).map((one) => one.element));

  learner.addEventListener("change", () => store.update({ learner: learner.value }));
  seed.addEventListener("change", () => {
    const value = Number(seed.value);
    if (Number.isInteger(value) && value >= 0 && value < 2 ** 31) store.update({ seed: value });
    else seed.value = store.scene.seed;
  });
  const kernel = kernelField(root, store, choices);

  function show() {
    const { scene } = store;
    const known = choices.learners[scene.task];
    if (learner.dataset.task !== scene.task) {
      learner.dataset.task = scene.task;
      learner.replaceChildren(...known.map(({ name, title }) => make("option", { value: name }, title)));
    }
    learner.value = learnerOf(choices, scene).name;
    learnerHelp.textContent = learnerOf(choices, scene).help;
    const used = slidersOf(choices, scene);
    for (const [name, one] of Object.entries(sliders)) {
      one.element.hidden = !used.includes(name);
      showSlider(name);
    }
    seed.value = scene.seed;
    kernel.show();
  }
  const shownElsewhere = new Set(["points", "labels", "box", "rest"]);
  const showSlider = (name) => {
    if (!sliders[name].isTyping()) sliders[name].show(store.scene[name]);
  };
  store.listen((what) => {
    const names = [...what].filter((name) => !shownElsewhere.has(name));
    if (names.every((name) => name in sliders)) names.forEach(showSlider); // a drag writes nothing else anew
    else show();
  });
  show();
  return { refuse: kernel.refuse, accept: kernel.accept, showSlider };
}

/** The kernel as text: chosen from a list or written, with what is wrong with it beside it. */
function kernelField(root, store, choices) {
  const menu = find("#kernel-menu", root);
  const text = find("#kernel", root);
  const help = find("#kernel-help", root);
  const complaint = find("#kernel-error", root);
  const own = make("option", { value: "" }, "a formula of your own");
  for (const { name, text: written, help: words } of choices.kernels) {
    menu.append(make("option", { value: written }, name));
    find("#kernels", root).append(make("option", { value: written, label: words }));
  }
  menu.append(own);
  menu.addEventListener("change", () => {
    if (menu.value) store.update({ kernel: menu.value });
    else text.focus();
  });
  const complain = debounced((sentence) => {
    complaint.textContent = sentence;
    complaint.hidden = false;
    text.setAttribute("aria-invalid", "true");
  }, 250);
  text.addEventListener("input", () => store.update({ kernel: text.value }, "kernel"));
  text.addEventListener("change", () => store.endGroup());
  return {
    show() {
      const { kernel } = store.scene;
      if (text.value !== kernel) text.value = kernel;
      const known = choices.kernels.find((one) => one.text === kernel);
      menu.value = known ? kernel : "";
      help.textContent = known?.help ?? "Kernels add up and multiply; “?” stands for the slider γ.";
    },
    /** One sentence; the last good picture stays. */
    refuse: complain,
    accept() {
      complain.cancel();
      complaint.hidden = true;
      complaint.textContent = "";
      text.removeAttribute("aria-invalid");
    },
  };
}
