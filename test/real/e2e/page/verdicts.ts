/**
 * The verdicts of four displays on one application: the page's list, its screen, `rekindle status`, and `rekindle list -o
 * json`, compared with each other and with the saved record, which is the source of all.
 */
import * as z from "zod";
import type { Row } from "../../../../shared/page/wire.ts";
import { rekindle } from "../installed.ts";

const counts = z.record(z.string(), z.number());
const hours = z.object({ cores: z.number() });

const listedShape = z.object({
  ...{ kind: z.string(), namespace: z.string(), name: z.string(), state: z.string() },
  waitsFor: z.string().optional(),
  message: z.string().optional(),
  ended: z.enum(["well", "badly"]).optional(),
  usage: z.object({ all: hours, lost: hours, isWhole: z.boolean() }).optional(),
});

const statusShape = z.object({
  ...{ state: z.string(), waitsFor: z.string(), message: z.string().optional() },
  ended: z.enum(["well", "badly"]).optional(),
  executors: z.object({ lost: counts }).optional(),
});

const recordShape = z.object({
  waitsFor: z.string().optional(),
  trouble: z.unknown().optional(),
  memory: z.looseObject({
    state: z.object({ phase: z.string() }).optional(),
    phase: z.string().optional(),
    executors: z
      .object({
        lost: counts.default({}),
        lifetimes: z
          .array(z.tuple([z.number(), z.number(), z.number(), z.number(), z.string(), z.string()]))
          .default([]),
      })
      .optional(),
  }),
});

const detailShape = z.object({
  ...{ state: z.string(), group: z.string(), waitsFor: z.string(), message: z.string(), lost: z.number() },
  lanes: z.array(z.object({ role: z.string(), id: z.number(), lost: z.boolean().optional() })).readonly(),
});

/** What the four displays, and the record, say of one application. */
export type Verdict = {
  readonly row: Pick<Row, "state" | "group" | "waits" | "pods">;
  readonly detail: z.infer<typeof detailShape>;
  readonly status: z.infer<typeof statusShape>;
  readonly listed: z.infer<typeof listedShape>;
  readonly record: z.infer<typeof recordShape>;
  /** Core-hours on the receipt of its screen: all, and those of lost executors; undefined: it shows none. */
  readonly receipt: { readonly all: number; readonly lost: number } | undefined;
};

const planned = new Set(["finished", "removed", "dismissed", "driverEnded"]);

const lostIn = (lost: Readonly<Record<string, number>>): number =>
  Object.entries(lost).reduce((sum, [reason, count]) => sum + (planned.has(reason) ? 0 : count), 0);

/** The executors that the record has judged, by whether they were lost. */
const judged = ({ record }: Verdict): ReadonlyMap<number, boolean> =>
  new Map(record.memory.executors?.lifetimes.map(([id, , , , , reason]) => [id, !planned.has(reason)]));

/** Waits of the usual course; any other is one in which something is in the way. */
const usual = /( to start| to finish| to become idle|\((ContainerCreating|PodInitializing)\))$/;

/** The groups that the record and the end allow. */
const groupsFor = ({ listed, record }: Verdict): readonly string[] => {
  if (listed.ended !== undefined) return [listed.ended === "well" ? "completed" : "failed"];
  const isInTheWay = record.trouble !== undefined || (record.waitsFor !== undefined && !usual.test(record.waitsFor));
  const started = /^(RUNNING|SUCCEEDING|Running|Completing|Restarting|Terminating)$/.test(listed.state);
  if (started) return record.trouble === undefined ? ["running"] : ["waiting"];
  return isInTheWay ? ["waiting", "held"] : ["submitted", "waiting", "held"];
};

/** Equal but for a pod's seconds: the record has whole ones, and a list is read a moment later. */
const near = (one: number, other: number): boolean => Math.abs(one - other) <= 0.002 + 0.12 * Math.max(one, other);

type Told = readonly [where: string, value: unknown];

/** None if all say the same. */
const unlike = (what: string, ...told: readonly Told[]): readonly string[] =>
  told.every(([, value]) => value === told[0]?.[1])
    ? []
    : [`${what}: ${told.map(([where, value]) => `${where} ${JSON.stringify(value)}`).join(", ")}`];

const claim = (holds: boolean, text: string): readonly string[] => (holds ? [] : [text]);

const states = ({ row, detail, status, listed, record }: Verdict): readonly string[] => {
  const phase = record.memory.state?.phase ?? record.memory.phase ?? listed.state;
  const all: readonly Told[] = [
    ["record", phase],
    ["list", listed.state],
    ["page", row.state],
    ["screen", detail.state],
    ["status", status.state],
  ];
  return unlike("state", ...all);
};

const groupsDiffer = (verdict: Verdict): readonly string[] => {
  const { row, detail } = verdict;
  const allowed = groupsFor(verdict);
  return [
    ...unlike("group", ["list of the page", row.group], ["its screen", detail.group]),
    ...claim(allowed.includes(row.group), `the page's group is ${row.group}, and may be ${allowed.join(" or ")}`),
  ];
};

const reasons = ({ row, detail, status, listed }: Verdict): readonly string[] => {
  const message = listed.message ?? "";
  return [
    ...unlike("message", ["list", message], ["status", status.message ?? ""], ["screen", detail.message]),
    ...(listed.ended === undefined ? [] : unlike("reason", ["list", message], ["page", row.waits])),
    ...claim(listed.ended !== "badly" || message !== "", "it failed, and no display says why"),
    ...claim(status.waitsFor.includes(message), `status does not say ${JSON.stringify(message)}`),
    ...unlike("wait", ["status", status.waitsFor], ["screen", detail.waitsFor]),
  ];
};

const losses = (verdict: Verdict): readonly string[] => {
  const { row, detail, status, record } = verdict;
  const told = lostIn(record.memory.executors?.lost ?? {});
  const words = judged(verdict);
  const lanes = detail.lanes.filter(({ role, id }) => role === "executor" && words.has(id));
  return [
    ...unlike("lost", ["record", told], ["page", Math.max(0, row.pods[2])], ["screen", detail.lost]),
    ...unlike("lost", ["record", told], ["status", lostIn(status.executors?.lost ?? {})]),
    ...lanes.flatMap(({ id, lost = false }) =>
      unlike(`executor ${id} lost`, ["record", words.get(id)], ["timeline", lost]),
    ),
  ];
};

const uses = ({ listed: { usage }, receipt }: Verdict): readonly string[] => {
  if (usage === undefined) return [];
  const { all, lost } = receipt ?? { all: 0, lost: 0 };
  // The list has no executors that still run.
  const isAsMuch = usage.isWhole ? near(all, usage.all.cores) : all + 0.002 >= usage.all.cores;
  return [
    ...claim(isAsMuch, `core-hours: receipt ${all}, list ${usage.all.cores}`),
    ...claim(near(lost, usage.lost.cores), `lost core-hours: receipt ${lost}, list ${usage.lost.cores}`),
  ];
};

/** Returns where the displays differ; none if they agree. */
export const disagreements = (verdict: Verdict): readonly string[] =>
  [states, groupsDiffer, reasons, losses, uses].flatMap((judge) => judge(verdict));

const listOf = z.array(listedShape);

/** All applications, as `rekindle list` of all namespaces has them. */
export const listedIn = async (kubeconfig: string): Promise<z.infer<typeof listOf>> =>
  listOf.parse(JSON.parse(await rekindle(["list", "-A", "-o", "json", "--kubeconfig", kubeconfig])));

export const statusOf = async (kubeconfig: string, key: string): Promise<Verdict["status"]> =>
  statusShape.parse(JSON.parse(await rekindle(["status", key, "-o", "json", "--kubeconfig", kubeconfig])));

export const detailIn = (answer: unknown): Verdict["detail"] => detailShape.parse(answer);

const checkpoints = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), annotations: z.record(z.string(), z.string()).default({}) }),
      spec: recordShape,
    }),
  ),
});

/** The saved records of a namespace, by `kind/name` in lower case. */
export const recordsIn = (list: unknown): ReadonlyMap<string, Verdict["record"]> =>
  new Map(
    checkpoints
      .parse(list)
      .items.map(({ metadata, spec }) => [
        `${metadata.name.split(".")[0]}/${metadata.annotations["rekindle.dev/name"] ?? ""}`,
        spec,
      ]),
  );
