// Elements made in code: make("button", { type: "button", onclick }, "Step").

/** Names of properties are set, names with a dash (and role) become attributes; null children are left out. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** The one element that a selector names, inside `root`. */
export const find = (selector, root = document) => root.querySelector(selector);
