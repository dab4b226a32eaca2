/**
 * The end of a log as the page shows it: of a pod, or the kept one of an attempt whose driver pod is gone. Read at most
 * once in two seconds for all viewers, with the rights of the process; a process that may not read logs of pods says
 * so, and shows no kept log either.
 */

import { forgetOldest } from "../../core/cache.ts";
import { ApiError } from "../../core/http.ts";
import { keyKindOf } from "../../core/object.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Source } from "../../inspection/io/session.ts";
import { keptLogsOf, keptLogText } from "../../inspection/kept-logs.ts";
import { kindNamed } from "../../inspection/kinds/all.ts";
import { logEnd, logRefusal } from "../../inspection/log.ts";
import { lifeOf, podsMeant } from "../../inspection/target.ts";
import { keyOf, type Log } from "../../page/wire.ts";
import type { ObjectName } from "./detail.ts";

/** The longest end of a log, characters. */
const longestLog = 65_536;
const freshMs = 2_000;
const mostLogs = 50;

/** The log that is asked for. `pod`: "" is the main one. `attempt`: the kept log of it. */
export type LogRequest = { readonly pod: string; readonly attempt?: number | undefined };

/** Reads one log. Resolves with undefined where there is no such application. */
export type Logs = (named: ObjectName, wanted: LogRequest) => Promise<Log | undefined>;

type Target = Parameters<typeof lifeOf>[1];

const readPod = async (source: Source, target: Target, wanted: string): Promise<Log | undefined> => {
  const life = await lifeOf(source, target);
  if (life === undefined) return undefined;
  const name = wanted === "" ? target.kind.mainPod(life.object, life.pods) : wanted;
  const pod = name === undefined ? undefined : podsMeant(target, life, { pod: name })[0];
  if (pod === undefined) return { pod: name ?? "", text: "", error: "it has no such pod" };
  const text = logEnd(source, target.key.namespace, pod, longestLog);
  return { pod: pod.metadata.name, ...(await text.then((read) => ({ text: read, error: "" })).catch(failed)) };
};

/** The answer where a log cannot be read. */
const failed = (cause: unknown): Pick<Log, "text" | "error"> => {
  if (cause instanceof ApiError || cause instanceof Refused) return { text: "", error: cause.message };
  throw cause;
};

const readKept = async (source: Source, target: Target, attempt: number): Promise<Log | undefined> => {
  const logs = await keptLogsOf(source, target.key);
  const log = logs.findLast((one) => one.attempt === attempt);
  if (log === undefined) return { pod: "", attempt, text: "", error: `no log of attempt ${attempt} is kept` };
  const { pod, at } = log;
  const refusal = await logRefusal(source, target.key.namespace, pod);
  if (refusal !== undefined) return { pod, attempt, text: "", error: refusal };
  return { pod, attempt, at, text: keptLogText([log], attempt) ?? "", error: "" };
};

const readLog = async (source: Source, named: ObjectName, { pod, attempt }: LogRequest): Promise<Log | undefined> => {
  const kind = kindNamed(named.kind);
  if (kind === undefined || keyKindOf(kind.resource) !== named.kind) return undefined;
  const target = { kind, key: { cluster: "default", ...named } };
  if (attempt === undefined) return await readPod(source, target, pod);
  try {
    return await readKept(source, target, attempt);
  } catch (cause) {
    return { pod: "", attempt, ...failed(cause) };
  }
};

export const openLogs = (source: Source, now: () => number = () => performance.now()): Logs => {
  const answers = new Map<string, { readonly at: number; readonly log: Promise<Log | undefined> }>();
  return (named, wanted) => {
    const key = `${keyOf(named)} ${wanted.attempt ?? ""} ${wanted.pod}`;
    const known = answers.get(key);
    if (known !== undefined && now() - known.at < freshMs) return known.log;
    const log = readLog(source, named, wanted);
    answers.delete(key);
    answers.set(key, { at: now(), log });
    forgetOldest(answers, mostLogs);
    log.catch(() => answers.delete(key));
    return log;
  };
};
