/** Reads recorded decisions out of log lines, and takes each again with this version's operators. */
import * as z from "zod";
import type { Replayed } from "../../cli/io/tools.ts";
import { fieldsOf, jsonOf } from "../../core/json.ts";
import { waitsForText } from "../../core/plan.ts";
import type { DecisionRecording } from "../../engine/cluster/recording.ts";
import { replay } from "../../engine/cluster/replay.ts";
import { timing } from "../../engine/settings.ts";
import { defaultOptions, type Options } from "../../spark/auxiliary-objects/options.ts";
import type { QueueOptions } from "../../volcano/queue/decide.ts";
import { operatorsFor } from "../common/operators.ts";
import { operatorsByKind } from "../common/step-dependencies.ts";

/** The longest recording, unpacked, bytes. */
const longestJson = 16_777_216;

const hasKey = (value: unknown): boolean => {
  const { kind, namespace, name } = fieldsOf(value);
  return [kind, namespace, name].every((part) => typeof part === "string");
};

const isRecording = (value: unknown): boolean => {
  const { version, key, view, rounds, plan } = fieldsOf(value);
  const isRead = Array.isArray(rounds) && Array.isArray(fieldsOf(plan)["stages"]);
  return version === 1 && hasKey(key) && isRead && typeof fieldsOf(view)["now"] === "number";
};

const form = z.object({
  settings: z.object({
    timing: z.custom<typeof timing>((value) => typeof fieldsOf(value)["fenceMs"] === "number").default(timing),
    spark: z.custom<Options>((value) => typeof fieldsOf(value)["uiService"] === "boolean").default(defaultOptions),
    queues: z.custom<QueueOptions>((value) => typeof value === "object" && value !== null).default({}),
  }),
  recording: z.custom<DecisionRecording>(isRecording, "is not a recording of this format"),
});

const unpacked = (text: string): string | undefined => {
  try {
    const bytes = Buffer.from(text, "base64");
    return process.getBuiltinModule("node:zlib").gunzipSync(bytes, { maxOutputLength: longestJson }).toString();
  } catch {
    return undefined;
  }
};

/** Returns the JSON object of a line; collectors of logs put a time or a name before it. */
const objectIn = (line: string): unknown => {
  const start = line.indexOf("{");
  return start < 0 ? undefined : jsonOf(line.slice(start));
};

type Read = { readonly line: z.infer<typeof form> } | { readonly refused: string };

/** Returns the recording of a line; undefined for a line of another message. */
const recordingIn = (text: string): Read | undefined => {
  const { recording } = fieldsOf(objectIn(text));
  if (typeof recording !== "string") return undefined;
  const json = unpacked(recording);
  if (json === undefined) return { refused: "its recording is cut off or damaged" };
  const parsed = form.safeParse(jsonOf(json));
  return parsed.success ? { line: parsed.data } : { refused: z.prettifyError(parsed.error) };
};

const replayed = ({ settings, recording }: z.infer<typeof form>): Replayed => {
  const operators = operatorsFor(settings.timing, settings.spark, settings.queues);
  const operator = operatorsByKind(operators)(recording.key.kind);
  const { view, rounds, plan, key } = recording;
  const effects = plan.stages.flat();
  const reads = rounds.reduce((sum, { queries }) => sum + queries.length, 0);
  const about = { key, at: view.now, reads, effects, waitsFor: waitsForText(plan), next: plan.next.do };
  const difference =
    operator === undefined
      ? { path: "key.kind", recorded: key.kind, replayed: "a kind that this version does not run" }
      : replay(operator, recording);
  return { is: "decision", ...about, difference };
};

/** Replays every recording among the lines of a log, in their order. Other lines are passed over. */
export function* replayLines(text: string): Generator<Replayed> {
  let number = 0;
  for (const line of text.split("\n")) {
    number += 1;
    const read = recordingIn(line);
    if (read === undefined) continue;
    yield "refused" in read ? { is: "refused", line: number, why: read.refused } : replayed(read.line);
  }
}
