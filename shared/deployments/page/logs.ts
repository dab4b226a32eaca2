/**
 * The end of the log of an application's pod. It is read at most once in two seconds for all viewers, with the rights of
 * the process; a process that may not read logs says so.
 */
import { logEnd } from "../../cli/inspection/log.ts";
import { lifeOf, podsMeant } from "../../cli/inspection/target.ts";
import { Refused, type Source } from "../../cli/io/tools.ts";
import { kindNamed } from "../../cli/kinds/all.ts";
import { forgetOldest } from "../../core/cache.ts";
import { ApiError } from "../../core/http.ts";
import { keyOf, type Log } from "../../page/wire.ts";
import type { Named } from "./detail.ts";

/** The longest end of a log, characters. */
const longestLog = 65_536;
const freshMs = 2_000;
const mostLogs = 50;

const read = async (source: Source, named: Named, asked: string): Promise<Log | undefined> => {
  const kind = kindNamed(named.kind);
  if (kind === undefined || kind.resource.kind !== named.kind) return undefined;
  const target = { kind, key: { cluster: "default", ...named } };
  const life = await lifeOf(source, target);
  if (life === undefined) return undefined;
  const main = kind.mainPod(life.object, life.pods);
  const name = asked === "" ? main : asked;
  const pod = name === undefined ? undefined : podsMeant(target, life, { pod: name })[0];
  if (pod === undefined) return { pod: name ?? "", text: "", error: "it has no such pod" };
  try {
    return { pod: pod.metadata.name, text: await logEnd(source, named.namespace, pod, longestLog), error: "" };
  } catch (cause) {
    if (cause instanceof ApiError || cause instanceof Refused)
      return { pod: pod.metadata.name, text: "", error: cause.message };
    throw cause;
  }
};

/** Reads the log of one pod; "": of the main one. Resolves with undefined where there is no such application. */
export type Logs = (named: Named, pod: string) => Promise<Log | undefined>;

export const openLogs = (source: Source, now: () => number = () => performance.now()): Logs => {
  const answers = new Map<string, { readonly at: number; readonly log: Promise<Log | undefined> }>();
  return (named, pod) => {
    const key = `${keyOf(named)} ${pod}`;
    const known = answers.get(key);
    if (known !== undefined && now() - known.at < freshMs) return known.log;
    const log = read(source, named, pod);
    answers.delete(key);
    answers.set(key, { at: now(), log });
    forgetOldest(answers, mostLogs);
    log.catch(() => answers.delete(key));
    return log;
  };
};
