/** `rekindle plan`: the observed objects, the record, and the plan of the next step, without applying it. */
import { refText } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { podStatus } from "../../kube/pods.ts";
import { whenText } from "../io/text.ts";
import type { Preview } from "../io/tools.ts";
import { yamlText } from "../io/yaml.ts";
import type { Seen } from "./status.ts";

const indent = (text: string): string =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");

const yaml = (value: unknown): string => indent(yamlText(value));

export const effectText = (effect: Effect): string => {
  switch (effect.do) {
    case "create":
      return `create ${effect.resource.plural} ${effect.object.metadata.namespace ?? ""}/${effect.object.metadata.name}`;
    case "delete":
      return `delete ${refText(effect.ref)} (uid ${effect.uid})`;
    case "patch":
      return `change ${refText(effect.ref)} (uid ${effect.uid}, resourceVersion ${effect.resourceVersion})`;
    case "record":
      return `event ${effect.type} ${effect.reason}: ${effect.message}`;
  }
};

const viewText = ({ object, state, pods }: Seen): string => {
  const { uid, generation, resourceVersion } = object.metadata;
  const lines = pods.map(({ metadata, ...pod }) => {
    const { phase = "Unknown" } = podStatus({ metadata, ...pod });
    return `  pod ${metadata.name}: ${phase}${metadata.deletionTimestamp === undefined ? "" : ", ending"}`;
  });
  const object1 = `  ${object.kind} in state ${state.state}, generation ${generation ?? "-"}, uid ${uid}, resourceVersion ${resourceVersion}`;
  return ["view", object1, ...(lines.length === 0 ? ["  no pods"] : lines)].join("\n");
};

const recordText = ({ found, now }: Seen): string => {
  if (found.is === "none") return `record\n  none (${found.why})`;
  if (found.is === "unreadable") return `record\n  cannot be read: ${found.error}`;
  const { wakeAt, memory, ...rest } = found.record;
  const timer = wakeAt === undefined ? "  none" : `  next step at ${whenText(wakeAt, now)}`;
  return `record\n${yaml({ ...rest, memory })}\ntimers\n${timer}`;
};

const previewText = (preview: Preview, now: number): string => {
  if (preview.would !== "plan") return `next step\n  does nothing: ${preview.why}`;
  const { stages, status, waitsFor, wakeAt, again } = preview;
  const acts = stages.flatMap((stage, at) => stage.map((effect) => `  stage ${at + 1}: ${effectText(effect)}`));
  return [
    "next step",
    ...(acts.length === 0 ? ["  creates and deletes nothing"] : acts),
    ...(waitsFor === undefined ? [] : [`  then waits for ${waitsFor}`]),
    ...(wakeAt === undefined ? [] : [`  and the next step is at ${whenText(wakeAt, now)}`]),
    ...(again ? ["  and continues at once"] : []),
    ...(status === undefined ? [] : ["  status as it should be", indent(yaml(status))]),
  ].join("\n");
};

/** View, record, timers and the next step. */
export const planText = (seen: Seen, preview: Preview): string =>
  [viewText(seen), recordText(seen), previewText(preview, seen.now)].join("\n");
