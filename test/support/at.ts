/** A part of a value by its path: fields, indexes of lists, and items of lists by their names. */
const step = (value: unknown, name: string): unknown => {
  if (Array.isArray(value)) {
    return /^\d+$/.test(name) && Number(name) < 100
      ? value[Number(name)]
      : value.find((item: unknown) => step(item, "name") === name);
  }
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
};

/** The value at a path, its steps joined by points; undefined where there is none. */
export const at = (value: unknown, path: string): unknown => path.split(".").reduce(step, value);
