/** Errors of fields in Kubernetes' words, one or several. */

export const invalid = (path: string, value: string, what: string): string =>
  `${path}: Invalid value: ${JSON.stringify(value)}: ${what}`;

/** Joins several errors in brackets, each once; empty if there is none. */
export const together = (errors: readonly string[]): string => {
  const once = [...new Set(errors)];
  return once.length > 1 ? `[${once.join(", ")}]` : (once[0] ?? "");
};
