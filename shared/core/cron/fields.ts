/**
 * One field of a cron schedule as robfig/cron v3 reads it: the numbers that it allows, and whether it is a bare star.
 */

/** `star`: the field restricts nothing, so of day and weekday only the other one counts. */
export type Field = { readonly allows: ReadonlySet<number>; readonly star: boolean };

export type Bounds = {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
};

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** The five fields in their order. Names count from `least`. */
export const bounds = {
  minute: { name: "minute", least: 0, most: 59 },
  hour: { name: "hour", least: 0, most: 23 },
  day: { name: "day of month", least: 1, most: 31 },
  month: { name: "month", least: 1, most: 12, names: months },
  weekday: { name: "day of week", least: 0, most: 6, names: weekdays },
} as const satisfies Readonly<Record<string, Bounds>>;

export type FieldName = keyof typeof bounds;

type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

const wrong = (bound: Bounds, text: string, why: string): { readonly ok: false; readonly error: string } => ({
  ok: false,
  error: `${bound.name} ${JSON.stringify(text)} ${why}`,
});

const numberOf = (bound: Bounds, text: string): number | undefined => {
  const named = bound.names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + bound.least;
  return /^\d+$/.test(text) ? Number(text) : undefined;
};

type Range = { readonly from: number; readonly to: number; readonly step: number; readonly star: boolean };

const rangeOf = (bound: Bounds, text: string): Parsed<Range> => {
  const [span = "", stepText, ...more] = text.split("/");
  const [low = "", high, ...others] = span.split("-");
  if (more.length > 0 || others.length > 0) return wrong(bound, text, "has too many parts");
  const all = low === "*" || low === "?";
  const from = all ? bound.least : numberOf(bound, low);
  const step = stepText === undefined ? 1 : numberOf({ name: bound.name, least: 0, most: 0 }, stepText);
  const open = all || (high === undefined && stepText !== undefined);
  const to = open ? bound.most : numberOf(bound, high ?? low);
  if (from === undefined || to === undefined || step === undefined) return wrong(bound, text, "is not a number");
  return { ok: true, value: { from, to, step, star: all && step <= 1 } };
};

const checked = (bound: Bounds, text: string, { from, to, step }: Range): string | undefined => {
  if (from < bound.least) return `is below ${bound.least}`;
  if (to > bound.most) return `is above ${bound.most}`;
  if (from > to) return "ends before it begins";
  return step === 0 ? `has the step 0 in ${JSON.stringify(text)}` : undefined;
};

const numbersIn = ({ from, to, step }: Range): readonly number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);

/** Parses ranges, lists, steps and names; an error contains the field's name. */
export const fieldOf = (name: FieldName, text: string): Parsed<Field> => {
  const bound: Bounds = bounds[name];
  const parts = text.split(",").filter((part) => part !== "");
  const allows = new Set<number>();
  let star = false;
  if (parts.length === 0) return wrong(bound, text, "is empty");
  for (const part of parts) {
    const range = rangeOf(bound, part);
    if (!range.ok) return range;
    const problem = checked(bound, part, range.value);
    if (problem !== undefined) return wrong(bound, part, problem);
    for (const number of numbersIn(range.value)) allows.add(number);
    star ||= range.value.star;
  }
  return { ok: true, value: { allows, star } };
};
