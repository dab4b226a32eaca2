/** Texts for terminals and logs: on one line, without control characters. */

/**
 * Joins the lines of a text by spaces, trimmed, without empty ones. A regular expression would take quadratic time on
 * many blanks.
 */
export const oneLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");

/**
 * Characters that control a terminal, except line ends and tabs: control characters, and marks that change the
 * direction of text.
 */
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes such characters as JSON does, because the text may come from any author of an object. */
export const visible = (text: string): string =>
  text.replace(steering, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
