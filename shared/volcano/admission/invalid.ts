/** Refusals of fields as Kubernetes words them, one or several. */

export const invalid = (path: string, value: string, what: string): string =>
  `${path}: Invalid value: ${JSON.stringify(value)}: ${what}`;

/** Several in brackets, each once; empty when there is none. */
export const together = (errors: readonly string[]): string => {
  const once = [...new Set(errors)];
  return once.length > 1 ? `[${once.join(", ")}]` : (once[0] ?? "");
};
