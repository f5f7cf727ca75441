// What a state from an address must look like before a view takes it: an address may come from anybody.

export const number = (value) => typeof value === "number" && Number.isFinite(value);
export const whole = (low, high) => (value) => Number.isInteger(value) && value >= low && value <= high;
export const text = (most) => (value) => typeof value === "string" && value.length <= most;
export const oneOf = (values) => (value) => values.includes(value);
export const list = (most, each) => (value) => Array.isArray(value) && value.length <= most && value.every(each);
export const pair = (each) => (value) => list(2, each)(value) && value.length === 2;

/** An object whose named values are each as they must be. */
export const record = (fields) => (value) =>
  value !== null && typeof value === "object" && Object.entries(fields).every(([name, is]) => is(value[name]));
