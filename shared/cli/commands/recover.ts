/** `rekindle recover`: finds the keys to recover, and prints the results. */

import { type Command, Option } from "commander";
import { type CheckpointHint, checkpointResource, hintOf } from "../../adapters/checkpoints/kubernetes.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import { keyKindOf, type Metadata, type Resource } from "../../core/object.ts";
import { asJson, asYaml } from "../../inspection/io/documents.ts";
import { exits, notServed, Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { everyKind } from "../../inspection/kinds/all.ts";
import { isNameOf, placeNamed } from "../../inspection/kinds/name.ts";
import { ambiguous, findTarget, isMissing, targetOf } from "../../inspection/target.ts";
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { kinds } from "../../registry/kinds.ts";
import {
  application,
  connected,
  countFrom,
  onNamespace,
  outputOption,
  type Scoped,
  spanOf,
  spanOption,
} from "../io/options.ts";
import type { Recovered, RecoverHow, Tools } from "../io/tools.ts";

/** Kinds whose objects have records that people may recover. */
const places: readonly DeclaredKind[] = kinds.filter(({ resource }) => resource.group !== "");

/** Those that no other command knows. */
const others: readonly DeclaredKind[] = places.filter(({ resource }) =>
  everyKind.every((one) => one.resource !== resource),
);

/** A key of a kind that no other command knows. A Queue has no namespace: `queue/NAME`. */
const otherNamed = (text: string, session: Session, given?: string): Key | undefined => {
  const [word = "", ...rest] = text.split("/");
  const place = others.find(({ resource, shortNames }) => isNameOf(resource, shortNames, word));
  if (place === undefined || rest.length === 0) return undefined;
  const { namespace = session.namespace ?? "default", name } = placeNamed(
    text,
    place.resource,
    place.shortNames,
    given,
  );
  const kind = keyKindOf(place.resource);
  return { cluster: "default", kind, namespace: place.scope === "Cluster" ? "" : namespace, name };
};

/**
 * The key of an object as people write it; see inspection/target.ts for the forms. Without a kind, all kinds are searched
 * for the name, and then the records: a record may outlast its object.
 */
const keyNamed = async (text: string, session: Session, namespace?: string): Promise<Key> => {
  const other = otherNamed(text, session, namespace);
  if (other !== undefined) return other;
  try {
    return (await findTarget(text, session, namespace)).key;
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    const { key } = targetOf(text, session, namespace);
    const [left, another] = (await keysIn(session, key.namespace)).filter(({ name }) => name === key.name);
    if (left === undefined) throw cause;
    if (another !== undefined) throw ambiguous([left, another]);
    return left;
  }
};

/** Lists the metadata of a resource's objects; none where it is not served. */
const metadataIn = async (
  { transport }: Session,
  resource: Resource,
  namespace: string,
): Promise<readonly Metadata[]> => {
  const found: Metadata[] = [];
  try {
    for await (const page of pages(transport, { resource, namespace, metadataOnly: true }))
      found.push(...page.items.map(({ metadata }) => metadata));
  } catch (cause) {
    if (!(cause instanceof ApiError) || !notServed(cause)) throw cause;
  }
  return found;
};

/** A key as this command takes it. */
const textOf = ({ kind, namespace, name }: Omit<Key, "cluster">): string =>
  [kind.toLowerCase(), namespace, name].filter((part) => part !== "").join("/");

/** Kinds whose objects create others are recovered first: otherwise they would create again what was ended. */
const rankOf = ({ kind }: Key): number =>
  places.some(({ resource, creates }) => keyKindOf(resource) === kind && creates !== undefined) ? 0 : 1;

const hintsIn = async (session: Session, namespace: string): Promise<readonly CheckpointHint[]> => {
  if (session.table !== undefined) return await session.table.records.hints(namespace === "" ? [] : [namespace]);
  const objects = await metadataIn(session, checkpointResource, namespace);
  return objects.map(hintOf).filter((hint) => hint !== undefined);
};

/** The keys of objects, and of records without an object, in order. Namespace "": all namespaces, and cluster scope. */
const keysIn = async (session: Session, namespace: string): Promise<readonly Key[]> => {
  const known = new Set<string>(places.map(({ resource }) => keyKindOf(resource)));
  const looked = places.filter(({ scope }) => scope === undefined || namespace === "");
  const objects = await Promise.all(
    looked.map(async ({ resource }) => {
      const there = await metadataIn(session, resource, namespace);
      return there.map(({ name, namespace: at = "" }) => ({
        cluster: "default",
        kind: keyKindOf(resource),
        namespace: at,
        name,
      }));
    }),
  );
  const recorded = (await hintsIn(session, namespace))
    .filter(({ kind, namespace: at }) => known.has(kind) && (namespace === "" || at === namespace))
    .map(({ kind, namespace: at, name }) => ({ cluster: "default", kind, namespace: at, name }));
  const all = new Map([...recorded, ...objects.flat()].map((key) => [textOf(key), key]));
  const first = ([a, one]: [string, Key], [b, other]: [string, Key]): number =>
    rankOf(one) - rankOf(other) || (a < b ? -1 : 1);
  return [...all].sort(first).map(([, key]) => key);
};

const line = (head: string, words: readonly string[]): readonly string[] =>
  words.length === 0 ? [] : [`  ${head.padEnd(9)}${words.join(", ")}`];

/** Nothing is wrong with it, and nothing was written. */
const isSound = ({ record, did, problems }: Recovered): boolean =>
  record === "sound" && did === "nothing" && problems.length === 0;

const block = (one: Recovered): string => {
  if (isSound(one)) return `${textOf(one)}  sound: nothing to do`;
  return [
    `${textOf(one)}  ${one.did}`,
    ...line("found", [`${one.record}: ${one.why}`]),
    ...line("kept", one.kept),
    ...line("wrong", one.problems),
    ...line("adopted", one.adopted),
    ...line("ended", one.ended),
    ...line("settings", one.configured === undefined ? [] : [one.configured]),
    ...line("waits", one.waitsFor === undefined ? [] : [`for ${one.waitsFor}`]),
  ].join("\n");
};

const sum = (all: readonly Recovered[]): string => {
  const refused = all.filter((one) => one.refused !== undefined).length;
  const waiting = all.filter((one) => one.waitsFor !== undefined).length;
  return `${all.length} checked, ${refused} refused, ${waiting} not settled yet`;
};

const recoveredText = (all: readonly Recovered[], form: string): string => {
  if (form === "json") return asJson(all);
  if (form === "yaml") return asYaml(all);
  return [...all.map(block), sum(all)].join("\n");
};

type Options = Scoped & {
  readonly strict?: boolean;
  readonly mode: RecoverHow["mode"];
  readonly fresh?: true;
  readonly reconfigure?: true;
  readonly coexist?: true;
  readonly timeout?: number;
  readonly grace: number;
  readonly wait: number;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly allNamespaces?: true;
  readonly output: string;
};

const howOf = ({ strict = true, mode, timeout, grace, wait, ...options }: Options): RecoverHow => ({
  ...{ strict, mode, fresh: options.fresh === true, reconfigure: options.reconfigure === true },
  ...{ coexist: options.coexist === true, dryRun: options.dryRun === true },
  ...(timeout === undefined ? {} : { returnMs: timeout }),
  graceSeconds: grace,
  waitMs: wait,
});

const longestReturnMs = 600_000;

const returning = (text: string): number => {
  const ms = spanOf(text);
  if (ms >= 1_000 && ms <= longestReturnMs) return ms;
  throw new Refused(`${JSON.stringify(text)}: write a duration from 1s to 10m`);
};

const chosen = async (session: Session, names: readonly string[], options: Options): Promise<readonly Key[]> => {
  if (names.length > 0) return await Promise.all(names.map((name) => keyNamed(name, session, options.namespace)));
  return await keysIn(
    session,
    options.allNamespaces === true ? "" : (options.namespace ?? session.namespace ?? "default"),
  );
};

const questions = {
  cleanup: "End everything that belongs to these",
  fresh: "Discard the records of these",
} as const;

const agreed = async (tools: Tools, keys: readonly Key[], options: Options): Promise<void> => {
  const question =
    options.mode === "cleanup" ? questions.cleanup : options.fresh === true ? questions.fresh : undefined;
  if (question === undefined || options.yes === true || options.dryRun === true) return;
  const names = keys.map(({ namespace, name }) => `${namespace}/${name}`).join(", ");
  if (!(await tools.confirm(`${question}: ${names}?`)))
    throw new Refused("nothing was changed (--yes skips the question)");
};

/** Recovers the keys one after the other, within one wait. A refusal is a result and does not end the loop. */
const recoverAll = async (tools: Tools, session: Session, keys: readonly Key[], how: RecoverHow) => {
  const until = tools.now() + how.waitMs;
  const all: Recovered[] = [];
  for (const key of keys)
    all.push(await tools.recover(session, key, { ...how, waitMs: Math.max(0, until - tools.now()) }));
  return all;
};

const concluded = (all: readonly Recovered[]): void => {
  const refused = all.filter((one) => one.refused !== undefined);
  if (refused.length > 0) throw new Refused(`${refused.length} refused: ${refused[0]?.refused}`);
  const waiting = all.find((one) => one.waitsFor !== undefined);
  if (waiting === undefined) return;
  const message = `the timeout has passed: ${waiting.namespace}/${waiting.name} waits for ${waiting.waitsFor}; a host continues it, or run this command again`;
  throw new Refused(message, { code: exits.timeOver });
};

const description = `Checks the records of applications and repairs what it can: a record that is unreadable, edited or missing, or that
another cluster or another version wrote. Without names it checks the whole namespace.

For an application with which nothing is wrong it writes nothing. Every write is conditional: the command may run beside a host, may be interrupted at any point, and may be repeated. It creates
no pods; a host does. It writes nothing for applications whose kind another controller leads.`;

export const recover = (tools: Tools): Command =>
  onNamespace("recover")
    .description(description)
    .argument("[applications...]", application[1])
    .option("--strict", "refuse a record that cannot be read (the default)")
    .option("--no-strict", "keep the readable part, and rebuild the rest from status and objects")
    .addOption(
      new Option("--mode <mode>", "reconnect: adopt its running pods; cleanup: delete everything that belongs to it")
        .choices(["reconnect", "cleanup"])
        .default("reconnect"),
    )
    .option("--fresh", "discard the record, whatever it contains, and adopt the running pods")
    .option("--reconfigure", "adopt the record under the settings of the next host")
    .option(
      "--timeout <duration>",
      "time in which missing pods may reappear (default: its annotation, else 30s)",
      returning,
    )
    .option("--grace <seconds>", "cleanup: seconds until pods are deleted by force", countFrom(0), 30)
    .addOption(spanOption("--wait <duration>", "longest wait for all of them; a host continues with the rest", 60_000))
    .option("--coexist", "work beside another controller that watches other namespaces")
    .option("--dry-run", "only print the findings")
    .option("--yes", "skip the question, with --mode cleanup or --fresh")
    .option("-A, --all-namespaces", "all namespaces")
    .addOption(outputOption("text", "json", "yaml"))
    .action((names: readonly string[], options: Options) =>
      connected(tools, options, async (session) => {
        const keys = await chosen(session, names, options);
        if (keys.length === 0) return tools.print("there is nothing to recover");
        await agreed(tools, keys, options);
        const all = await recoverAll(tools, session, keys, howOf(options));
        tools.print(recoveredText(all, options.output));
        concluded(all);
      }),
    );
