// What a reader of the screen should hear: one polite line, and an urgent one for what went wrong.

const quiet = document.getElementById("announced");
const urgent = document.getElementById("alarmed");
let timer = 0;

/** Say a summary once things have settled; a newer summary replaces one that was not said yet. */
export function announce(sentence) {
  clearTimeout(timer);
  timer = setTimeout(() => (quiet.textContent = sentence), 400);
}

/** Say at once. */
export function alarm(sentence) {
  urgent.textContent = "";
  urgent.textContent = sentence;
}
