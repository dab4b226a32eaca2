/** Texts as terminals and logs show them: several lines as one, and no character that steers a terminal. */

/** Lines are trimmed and joined by a space; empty ones are left out. By hand: an expression would begin again at every blank. */
export const oneLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");

/** What steers a terminal, but for line ends and tabs: control characters, and marks that turn the direction of text. */
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** The text with such characters as JSON escapes them: an object's author writes what he likes, and moves nobody's cursor. */
export const visible = (text: string): string =>
  text.replace(steering, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
