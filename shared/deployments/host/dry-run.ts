/** The output of a dry run: the plan of each step, printed once and again only when it differs, and a line after each resync. */

import { isDeepStrictEqual } from "node:util";
import { fieldsOf, isRecord } from "../../core/json.ts";
import { type Key, textOf } from "../../core/key.ts";
import { refText, type Stored } from "../../core/object.ts";
import { type Effect, type Plan, waitsForText } from "../../core/plan.ts";
import { counted } from "../../core/text.ts";
import { type Paint, paintFor, plain, wantsColour } from "../../inspection/io/text.ts";

type Shadow = (key: Key, plan: Plan<unknown>, object?: Stored) => void;

const acted = (effect: Effect): string => {
  switch (effect.do) {
    case "record":
      return `event ${effect.reason}: ${effect.message}`;
    case "create":
      return `create ${effect.resource.plural} ${effect.object.metadata.name}`;
    case "delete":
      return `delete ${refText(effect.ref)} (uid ${effect.uid})`;
    case "evict":
      return `evict ${refText(effect.ref)} (uid ${effect.uid})`;
    case "keepLog":
      return `keep the log of ${refText(effect.ref)}`;
    case "patch":
      return `change ${refText(effect.ref)}: ${JSON.stringify(effect.patch)}`;
  }
};

/** Returns the plan as one line of JSON, for machines. */
const shadowLine = ({ kind, namespace, name }: Key, plan: Plan<unknown>): string =>
  JSON.stringify({
    would: `${kind} ${namespace}/${name}`,
    effects: plan.stages.flat().map(acted),
    status: plan.status,
    ...(plan.next.do === "forget" ? { checkpoint: "removed" } : {}),
    waitsFor: waitsForText(plan),
  });

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Returns the changed fields as lines of a diff. `path`: the field path of both values. */
const changesOf = (path: string, before: unknown, after: unknown): readonly string[] => {
  if (isDeepStrictEqual(before, after)) return [];
  const isNested = isRecord(after) && Object.keys(after).length > 0 && (before === undefined || isRecord(before));
  if (isNested) {
    const was = fieldsOf(before);
    const fields = [...new Set([...Object.keys(was), ...Object.keys(after)])];
    return fields.flatMap((field) => changesOf(`${path}.${field}`, was[field], after[field]));
  }
  return [
    ...(before === undefined || before === null ? [] : [`- ${path}: ${shown(before)}`]),
    ...(after === undefined || after === null ? [] : [`+ ${path}: ${shown(after)}`]),
  ];
};

const effectLines = (effect: Effect): readonly string[] => {
  switch (effect.do) {
    case "record":
      return [`! event ${effect.type} ${effect.reason}: ${effect.message}`];
    case "create":
      return [`+ ${effect.resource.kind} ${effect.object.metadata.name}`];
    case "delete":
      return [`- ${effect.ref.resource.kind} ${effect.ref.name} (uid ${effect.uid})`];
    case "evict":
      return [`- ${effect.ref.resource.kind} ${effect.ref.name} by eviction (uid ${effect.uid})`];
    case "keepLog":
      return [`+ the end of the log of ${effect.ref.resource.kind} ${effect.ref.name}`];
    case "patch":
      return [`~ ${effect.ref.resource.kind} ${effect.ref.name}: ${JSON.stringify(effect.patch)}`];
  }
};

const tones = { "+": "good", "-": "bad", "!": "wait", "~": "wait" } as const;

const isSign = (sign: string): sign is keyof typeof tones => Object.hasOwn(tones, sign);

/** Returns the plan as a diff, for people; undefined when the step would change nothing. */
const shadowText = (key: Key, plan: Plan<unknown>, object: Stored | undefined, paint: Paint): string | undefined => {
  const { stages, status, next } = plan;
  const waitsFor = waitsForText(plan);
  const lines = [
    ...stages.flat().flatMap(effectLines),
    ...(object === undefined || status === undefined ? [] : changesOf("status", object.status, status)),
    ...(next.do === "forget" ? ["- its record"] : []),
  ];
  if (lines.length === 0) return undefined;
  const painted = lines.map((line) => {
    const sign = line.charAt(0);
    return `  ${isSign(sign) ? paint(tones[sign], line) : line}`;
  });
  const waits = waitsFor === undefined ? [] : [`  then waits for ${waitsFor}`];
  return [`${key.kind} ${key.namespace}/${key.name}`, ...painted, ...waits].join("\n");
};

/** Removes timestamps: a repeated plan differs in nothing else. */
const withoutTimes = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "");

const tellingNews = (
  print: (text: string) => void,
  say: (...plan: Parameters<Shadow>) => string | undefined,
): Shadow => {
  const reported = new Map<string, string>();
  return (...plan) => {
    const text = say(...plan);
    const id = textOf(plan[0]);
    const gist = withoutTimes(text ?? "");
    if ((reported.get(id) ?? "") === gist) return;
    reported.set(id, gist);
    if (text !== undefined) print(text);
  };
};

/** Prints one line of JSON for each plan, also for one that changes nothing. */
export const tellPlans = (print: (line: string) => void): Shadow => tellingNews(print, shadowLine);

/** Prints a diff for each plan that changes something. */
export const tellChanges = (print: (text: string) => void, paint: Paint = plain): Shadow =>
  tellingNews(print, (key, plan, object) => shadowText(key, plan, object, paint));

type Printer = {
  readonly print: (line: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal?: boolean;
};

/** The output of a dry run. `resynced` is called after each resync, whose steps may still be under way. */
type DryRun = { readonly shadow: Shadow; readonly resynced: () => void };

/** The line that closes a resync has had no plan for so long, ms. */
const quietMs = 2_000;

const changes = ({ stages, status, next }: Plan<unknown>, object: Stored | undefined): boolean =>
  stages.flat().length > 0 ||
  next.do === "forget" ||
  (object !== undefined && status !== undefined && changesOf("status", object.status, status).length > 0);

const closingText = (looked: number, changing: number): string => {
  const would = changing === 0 ? "nothing would change" : `${changing} would change`;
  return `resync: ${counted(looked, "key")} looked at, ${would}`;
};

/**
 * Opens the output of a dry run: a diff for people, or lines of JSON; and after each resync a line with the number of
 * keys that were looked at since the last one, so that silence means agreement.
 */
export const shadowFor = (
  { print, env, isTerminal = false }: Printer,
  output: "text" | "json",
  waitMs = quietMs,
): DryRun => {
  const tell = output === "json" ? tellPlans(print) : tellChanges(print, paintFor(wantsColour(env, isTerminal)));
  const seen = new Map<string, boolean>();
  let timer: NodeJS.Timeout | undefined;
  const close = (): void => {
    timer = undefined;
    const [looked, changing] = [seen.size, [...seen.values()].filter((isChange) => isChange).length];
    seen.clear();
    print(output === "json" ? JSON.stringify({ resync: { looked, changing } }) : closingText(looked, changing));
  };
  return {
    shadow: (key, plan, object) => {
      seen.set(textOf(key), changes(plan, object));
      timer?.refresh();
      tell(key, plan, object);
    },
    resynced: () => {
      timer ??= setTimeout(close, waitMs).unref();
    },
  };
};
