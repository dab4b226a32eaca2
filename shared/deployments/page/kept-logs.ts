/**
 * The logs of an application's drivers that are kept after the end of their pods, as the page lists them. They are read
 * only where the record says that there are any, and once for each of its saves.
 */

import { forgetOldest } from "../../core/cache.ts";
import type { Source } from "../../inspection/io/session.ts";
import { keptLogsOf } from "../../inspection/kept-logs.ts";
import type { RecordView } from "../../inspection/record.ts";
import { type Detail, keyOf, type Row } from "../../page/wire.ts";

type Kept = Detail["keptLogs"];

/** Resolves with the kept logs of an application, oldest first; none where they cannot be read. */
export type KeptLogs = (named: Pick<Row, "kind" | "namespace" | "name">, record?: RecordView) => Promise<Kept>;

const mostAnswers = 200;

export const openKeptLogs = (source: Source): KeptLogs => {
  const answers = new Map<string, { readonly saves: number; readonly kept: Promise<Kept> }>();
  const read = async (named: Parameters<KeptLogs>[0]): Promise<Kept> => {
    const logs = await keptLogsOf(source, { cluster: "default", ...named });
    return logs.map(({ attempt, pod, at }) => ({ attempt, pod, at }));
  };
  return async (named, record) => {
    if (record?.logs !== true) return [];
    const key = keyOf(named);
    const known = answers.get(key);
    if (known?.saves === record.saves) return await known.kept;
    const kept = read(named).catch(() => {
      answers.delete(key);
      return [];
    });
    answers.delete(key);
    answers.set(key, { saves: record.saves, kept });
    forgetOldest(answers, mostAnswers);
    return await kept;
  };
};
