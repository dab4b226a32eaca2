/** Times and counts as the page writes them. Pure. */

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** A span in seconds, to two units: `9 min 44 s`; from an hour on without seconds. */
export const span = (seconds: number): string => {
  const parts: string[] = [];
  let left = Math.max(0, Math.round(seconds));
  for (const [unit, size] of units) {
    const amount = Math.floor(left / size);
    left -= amount * size;
    if (amount > 0) parts.push(`${amount} ${unit}`);
  }
  return parts.slice(0, 2).join(" ") || "0 s";
};

/** A span in seconds, to one unit: `39 min`. */
export const briefly = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds));
  const [unit, size] = units.find(([, one]) => whole >= one) ?? ["s", 1];
  return `${Math.floor(whole / size)} ${unit}`;
};

const two = (part: number): string => String(part).padStart(2, "0");

/** The time of day of an instant in ms, in the viewer's zone. */
export const clock = (ms: number, withSeconds = true): string => {
  const date = new Date(ms);
  const day = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return withSeconds ? `${day}:${two(date.getSeconds())}` : day;
};

/** The time of day, with the date where it is another day than today. */
export const moment = (ms: number, now: number): string => {
  const [date, today] = [new Date(ms), new Date(now)];
  if (date.toDateString() === today.toDateString()) return clock(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(ms, false)}`;
};

const format = new Intl.NumberFormat("en-US");

/** `10,000`. */
export const grouped = (count: number): string => format.format(count);

export const plural = (count: number, word: string): string => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;

/** Characters that a reader does not see, except line ends and tabs, shown as codes: as in terminals and logs. */
const steering = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A text of any author, harmless to look at. */
export const visible = (text: string): string => text.replace(steering, (one) => one.split("").map(escaped).join(""));

/** A state in one spelling: `SUBMISSION_FAILED` as `Submission failed`. */
export const stateText = (state: string): string =>
  /^[A-Z_]+$/.test(state) ? `${state.slice(0, 1)}${state.slice(1).toLowerCase().replaceAll("_", " ")}` : state;
