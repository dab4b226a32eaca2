/**
 * `rekindle log` and `rekindle event`. A log is that of a driver, an executor or a pod of a job; it is followed over
 * broken connections and into the next attempt.
 */

import type { Command } from "commander";
import { ApiError } from "../../core/http.ts";
import { attemptLabel, type Stored } from "../../core/object.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { keptLogLines, keptLogsOf, keptLogText } from "../../inspection/kept-logs.ts";
import { eventText, heardOf, logPath, mainContainer } from "../../inspection/log.ts";
import { driverWordsOf, driverWordsText, recordOf } from "../../inspection/record.ts";
import {
  findTarget,
  fullName,
  hasNoPods,
  isMissing,
  type Life,
  lifeOf,
  missing,
  noPod,
  type PodChoice,
  podOf,
  podsMeant,
  podsText,
  stillText,
  type Target,
  targetOf,
} from "../../inspection/target.ts";
import { isOver as hasEnded, labelOf, podStatus, waitingReason } from "../../kube/pods.ts";
import { errorOf } from "../../kube/responses.ts";
import { type Bounds, within } from "../io/deadline.ts";
import {
  application,
  connected,
  countFrom,
  onNamespace,
  outputOption,
  type Scoped,
  spanOf,
  timeoutOption,
} from "../io/options.ts";
import type { Tools } from "../io/tools.ts";

export type LogOptions = PodChoice & {
  readonly follow: boolean;
  readonly tail: number | undefined;
  /** Only lines younger than this, ms. */
  readonly sinceMs: number | undefined;
  readonly timestamps: boolean;
  readonly container: string | undefined;
  readonly previous: boolean;
};

/** Lines are read with their timestamps, so that a broken connection neither loses nor repeats one. */
const stamped = /^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) ?(.*)$/s;

type Reading = { readonly uid: string; readonly name: string; last: string | undefined };

const queryOf = (options: LogOptions, pod: Stored, last: string | undefined): Record<string, string | undefined> => {
  const fresh = last === undefined;
  return {
    follow: options.follow ? "true" : undefined,
    timestamps: "true",
    container: options.container ?? mainContainer(pod),
    previous: options.previous ? "true" : undefined,
    tailLines: fresh && options.tail !== undefined ? String(options.tail) : undefined,
    sinceSeconds: fresh && options.sinceMs !== undefined ? String(Math.ceil(options.sinceMs / 1_000)) : undefined,
    sinceTime: last?.replace(/\.\d+/, ""),
  };
};

const openLog = async ({ transport }: Session, target: Target, pod: Stored, query: ReturnType<typeof queryOf>) => {
  const path = logPath(target.key.namespace, pod, query);
  const stream = await transport.stream({ method: "GET", path, headers: { accept: "*/*" }, timeoutMs: 10_000 });
  if (stream.status === 200) return stream;
  const body: string[] = [];
  for await (const text of stream.lines) body.push(text);
  throw errorOf(`log of ${pod.metadata.name}`, { ...stream, body: body.join("\n") });
};

/** Prints the new lines of one pod's log. */
const readOnce = async (
  tools: Tools,
  session: Session,
  at: { readonly target: Target; readonly pod: Stored; readonly options: LogOptions; readonly reading: Reading },
): Promise<void> => {
  const { target, pod, options, reading } = at;
  const known = reading.last;
  const stream = await openLog(session, target, pod, queryOf(options, pod, reading.last));
  for await (const line of stream.lines) {
    const [, time, text = ""] = stamped.exec(line) ?? [undefined, undefined, line];
    if (time !== undefined && known !== undefined && time <= known) continue;
    reading.last = time ?? reading.last;
    tools.print(options.timestamps ? line : text);
  }
};

/** True for an error that does not end a followed log: the container has not started, or the connection broke. */
const passes = (cause: unknown): boolean =>
  cause instanceof ApiError &&
  (cause.status === 0 || cause.status === 400 || cause.status === 404 || cause.status >= 500);

const againMs = 1_000;

/** Prints the pods among which the user must choose. */
const several = (tools: Tools, { key }: Target, found: readonly Stored[]): void => {
  tools.print(podsText(found));
  tools.warn(
    `name one: rekindle log ${fullName(key)} --pod NAME, or --task TASK --index N; --task TASK prints the logs of all pods of the task`,
  );
};

const read = async (tools: Tools, session: Session, target: Target, options: LogOptions): Promise<void> => {
  const life = await lifeOf(session, target);
  if (life === undefined) throw await missing(session, target.key, [target.kind]);
  const found = podsMeant(target, life, options);
  if (found.length === 0) throw await noPod(session, target, life, options);
  if (found.length > 1 && options.task === undefined) return several(tools, target, found);
  for (const pod of found) {
    if (found.length > 1) tools.print(`==> ${pod.metadata.name} <==`);
    await readPod(tools, session, { target, pod, options });
  }
};

type At = { readonly target: Target; readonly pod: Stored; readonly options: LogOptions };

const readPod = async (tools: Tools, session: Session, { target, pod, options }: At): Promise<void> => {
  const reading = { uid: pod.metadata.uid, name: pod.metadata.name, last: undefined };
  try {
    await readOnce(tools, session, { target, pod, options, reading });
  } catch (cause) {
    const why = waitingReason(podStatus(pod));
    if (!(cause instanceof ApiError) || cause.status !== 400 || why === undefined) throw cause;
    throw new Refused(`${pod.metadata.name} has not started: ${why}`, { cause });
  }
};

/** True when no more lines come: the object is gone, or the application has ended and its last log is read. */
const nothingMore = (life: Life | undefined, pod: Stored | undefined, done: string | undefined): boolean =>
  life === undefined || (life.state.ended !== undefined && (pod === undefined || pod.metadata.uid === done));

/** State between two reads: the pod that is read, and the UID of the one that was read to its end. */
type Following = { readonly reading?: Reading; readonly done?: string };
type Seen = {
  readonly target: Target;
  readonly options: LogOptions;
  readonly life: Life | undefined;
  readonly pod: Stored | undefined;
};

const see = async (session: Session, target: Target, options: LogOptions): Promise<Seen> => {
  const life = await lifeOf(session, target);
  return { target, options, life, pod: life === undefined ? undefined : podOf(target, life, options) };
};

/** The reading of a pod: continued for the same UID, from the beginning for the pod of the next attempt. */
const readingOf = (tools: Tools, known: Reading | undefined, pod: Stored): Reading => {
  const { uid, name } = pod.metadata;
  if (known?.uid === uid) return known;
  if (known !== undefined) tools.warn(`--- runs again: ${name}`);
  return { uid, name, last: undefined };
};

/** Returns true when the log was read to its end. */
const readThrough = async (tools: Tools, session: Session, at: Parameters<typeof readOnce>[2]): Promise<boolean> => {
  try {
    await readOnce(tools, session, at);
    return true;
  } catch (cause) {
    if (passes(cause)) return false;
    throw cause;
  }
};

const readOn = async (tools: Tools, session: Session, seen: Seen, before: Following): Promise<Following> => {
  const { target, options, pod } = seen;
  if (pod === undefined || pod.metadata.uid === before.done) return before;
  const reading = readingOf(tools, before.reading, pod);
  const isRead = await readThrough(tools, session, { target, options, pod, reading });
  return isRead && hasEnded(podStatus(pod)) ? { reading, done: reading.uid } : { ...before, reading };
};

const follow = async (tools: Tools, session: Session, target: Target, options: LogOptions): Promise<void> => {
  let at: Following = {};
  let seen = await see(session, target, options);
  if (seen.life === undefined) throw await missing(session, target.key, [target.kind]);
  if (podsMeant(target, seen.life, options).length > 1) {
    several(tools, target, podsMeant(target, seen.life, options));
    throw new Refused("one pod is followed at a time");
  }
  if (hasNoPods(target)) throw await noPod(session, target, seen.life, options);
  for (; ; seen = await see(session, target, options)) {
    const before = at;
    if (nothingMore(seen.life, seen.pod, at.done)) return;
    at = await readOn(tools, session, seen, at);
    if (at.done !== undefined && options.executor !== undefined) return;
    if (at.done === before.done) await tools.sleep(againMs);
  }
};

/** Prints a log; followed, it goes on into the next attempt and ends when the application has. */
export const showLog = (tools: Tools, session: Session, target: Target, options: LogOptions): Promise<void> =>
  options.follow ? follow(tools, session, target, options) : read(tools, session, target, options);

/** The target of a name; of an application that is gone, its kept logs are found by its name. */
const targetFor = (name: string, session: Session, namespace: string | undefined): Promise<Target> =>
  findTarget(name, session, namespace).catch((cause: unknown) => {
    if (isMissing(cause)) return targetOf(name, session, namespace);
    throw cause;
  });

/** Tells on stderr what the driver of an attempt last reported, where the record has it: of the newest attempt alone. */
const tellWords = async (tools: Tools, session: Session, { key }: Target, attempt: true | number): Promise<void> => {
  const found = await recordOf(session, key);
  const words = driverWordsOf(found.is === "record" ? found.record : undefined);
  if (words === undefined || (attempt !== true && attempt !== words.attempt)) return;
  tools.warn(`--- the driver of attempt ${words.attempt} last reported at ${driverWordsText(words)}`);
};

/** Prints the list of kept logs, or the kept log of an attempt; of the attempt whose pod is there, that pod's. */
const showKept = async (tools: Tools, session: Session, { name, options, attempt }: Kept): Promise<void> => {
  const target = await targetFor(name, session, options.namespace);
  const logs = await keptLogsOf(session, target.key);
  await tellWords(tools, session, target, attempt);
  if (attempt === true) return tools.print(keptLogLines(logs));
  const text = keptLogText(logs, attempt);
  if (text !== undefined) return tools.print(text);
  const life = await lifeOf(session, target);
  const pod = life?.pods.find(
    (one) => labelOf(one, "spark-role") === "driver" && labelOf(one, attemptLabel) === String(attempt),
  );
  if (pod === undefined)
    throw new Refused(
      `no log of attempt ${attempt} is kept, and its driver pod is gone; rekindle log ${fullName(target.key)} --attempt lists those that are kept`,
    );
  await readPod(tools, session, { target, pod, options: logOptions(options) });
};

type Options = Scoped & {
  readonly attempt?: true | number;
  readonly follow?: true;
  readonly executor?: string;
  readonly pod?: string;
  readonly task?: string;
  readonly index?: number;
  readonly tail?: number;
  readonly since?: number;
  readonly timestamps?: true;
  readonly container?: string;
  readonly previous?: true;
  readonly timeout?: number;
};

type Kept = { readonly name: string; readonly options: Options; readonly attempt: true | number };

const logOptions = (options: Options): LogOptions => ({
  executor: options.executor,
  pod: options.pod,
  task: options.task,
  index: options.index,
  follow: options.follow === true,
  tail: options.tail,
  sinceMs: options.since,
  timestamps: options.timestamps === true,
  container: options.container,
  previous: options.previous === true,
});

export const log = (tools: Tools): Command =>
  onNamespace("log")
    .argument(...application)
    .option("-f, --follow", "follow the log, into the next attempt, until the application has ended")
    .option("-e, --executor <id>", "of this executor (default: of the driver)")
    .option("--pod <name>", "log of this pod; of a job, TASK-INDEX is short for NAME-TASK-INDEX")
    .option("--task <name>", "logs of the pods of this task of a job (default: its only pod, or a list of its pods)")
    .option("--index <number>", "log of the pod with this index in its task", countFrom(0))
    .option("--tail <lines>", "only this many of the last lines", countFrom(0))
    .option("--since <duration>", "only lines that are younger, e.g. 10m", spanOf)
    .option("--timestamps", "print the time of each line")
    .option("-c, --container <name>", "log of this container of the pod (default: Spark's own)")
    .option(
      "--attempt [number]",
      "stored end of the driver's log of this attempt (without a number: a list of the stored logs)",
      countFrom(1),
    )
    .option("--previous", "log of the container before its last restart")
    .addOption(timeoutOption())
    .action((name: string, options: Options) =>
      connected(tools, options, async (session) => {
        if (options.attempt !== undefined)
          return await showKept(tools, session, { name, options, attempt: options.attempt });
        const target = await findTarget(name, session, options.namespace);
        const show = (bounds: Bounds) => showLog(bounds.tools, bounds.session, target, logOptions(options));
        return await within({ tools, session }, options.timeout, show, () => stillText(session, target));
      }),
    );

type EventOptions = Scoped & {
  readonly follow?: true;
  readonly watch?: true;
  readonly pods?: true;
  readonly all?: true;
  readonly timeout?: number;
  readonly output: string;
};

const eventsAgainMs = 2_000;

/** Prints each event once, as it comes, until the application has ended. */
const followed = async (tools: Tools, session: Session, target: Target, options: EventOptions): Promise<void> => {
  const known = new Set<string>();
  for (;;) {
    const { events, isOver } = await heardOf(session, target, options);
    const news = events.filter(({ id }) => !known.has(id));
    if (news.length > 0) tools.print(eventText(news, tools.now(), options.output, known.size === 0));
    for (const { id } of news) known.add(id);
    if (isOver) return;
    await tools.sleep(eventsAgainMs);
  }
};

const shown = async (tools: Tools, session: Session, target: Target, options: EventOptions): Promise<void> => {
  const { events } = await heardOf(session, target, options);
  const isTable = options.output === "table";
  if (events.length === 0 && isTable) return tools.print("no events: Kubernetes keeps them for an hour by default");
  tools.print(eventText(events, tools.now(), options.output));
};

export const event = (tools: Tools): Command =>
  onNamespace("event")
    .argument(...application)
    .option("-f, --follow", "follow new events until the application has ended")
    .option("-w, --watch", "the same as --follow")
    .option("--pods", "include the events of its pods")
    .option("--all", "include the events of earlier objects of its name")
    .addOption(timeoutOption())
    .addOption(outputOption("table", "json", "yaml"))
    .action((name: string, options: EventOptions) =>
      connected(tools, options, async (session) => {
        // Events outlast their object: for a missing object they are shown by its name.
        const target = await targetFor(name, session, options.namespace);
        const show = options.follow === true || options.watch === true ? followed : shown;
        const act = (bounds: Bounds) => show(bounds.tools, bounds.session, target, options);
        return await within({ tools, session }, options.timeout, act, () => stillText(session, target));
      }),
    );
