/** The changes of an application's spec, as its page shows them: each field as text, and the attempt that began with it. */

import { oneLine } from "../../core/text.ts";
import type { RecordView } from "../../inspection/record.ts";
import { specChangesOf } from "../../inspection/spec-changes.ts";
import type { Detail } from "../../page/wire.ts";

const longestValue = 300;

const valueText = (value: unknown): string =>
  value === undefined ? "" : oneLine(typeof value === "string" ? value : JSON.stringify(value)).slice(0, longestValue);

/**
 * The first attempt that began after the change. Times are whole seconds: an attempt of the same second began before
 * the change if the step that saw the change ended it.
 */
const attemptAfter = (history: Detail["history"], at: number): number | undefined => {
  const isBefore = (one: Detail["history"][number]): boolean =>
    one.at < at || (one.at === at && one.state === "INVALIDATING");
  const before = history.findLast(isBefore)?.attempt ?? 0;
  return history.find((one) => one.at >= at && one.attempt > before)?.attempt;
};

/** The changes of the spec that a record keeps, as texts. */
export const changesIn = (record: RecordView | undefined, history: Detail["history"]): Detail["changes"] =>
  specChangesOf(record).map(({ at, fields }) => ({
    ...{ at, attempt: attemptAfter(history, at) },
    fields: fields?.map(
      ({ path, before, after }) => [path.slice(0, longestValue), valueText(before), valueText(after)] as const,
    ),
  }));
