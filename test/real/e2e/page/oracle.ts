/** What a timeline must say, from the objects of the API server alone, and how a shown one differs. */
import * as z from "zod";
import type { Simulator } from "../../../../shared/simulator/open.ts";

/** A pod as the timeline's table shows it: times of day in UTC, empty where there is none. */
export type PodRow = { readonly pod: string; readonly up: string; readonly end: string; readonly node: string };

const pod = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    creationTimestamp: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.object({ nodeName: z.string().default("") }),
  status: z
    .object({
      containerStatuses: z
        .array(
          z.object({
            state: z.object({
              running: z.object({ startedAt: z.string() }).optional(),
              terminated: z.object({ startedAt: z.string(), finishedAt: z.string() }).optional(),
            }),
          }),
        )
        .default([]),
    })
    .prefault({}),
});

/** A past wait: its reason, and its begin and end in epoch s. */
export type WaitRow = { readonly reason: string; readonly from: number; readonly to: number };

const checkpoint = z.object({
  kind: z.literal("Checkpoint"),
  metadata: z.object({ name: z.string() }),
  spec: z.object({ waitsFor: z.string().optional() }),
});

const timeOf = (instant: string | undefined): string => (instant === undefined ? "" : instant.slice(11, 19));

export type PodOracle = {
  /** The pods of one application that ever were, by name. */
  rows(application: string): readonly PodRow[];
  /** The executor that was created next after the end of each ended one, by name, among those that had no such place. */
  successors(application: string): ReadonlyMap<string, string>;
  /** The past waits of the saved records, one after the other, without the present wait. */
  waits(application: string): readonly WaitRow[];
  stop(): void;
};

/** Collects the pods of a cluster from now on. */
export const openOracle = ({ subscribe }: Pick<Simulator, "subscribe">): PodOracle => {
  const seen = new Map<string, z.infer<typeof pod>>();
  const order: { readonly at: "created" | "ended"; readonly key: string }[] = [];
  const isEnded = (one: z.infer<typeof pod> | undefined): boolean =>
    one?.status.containerStatuses.some(({ state }) => state.terminated !== undefined) === true;
  const saved = new Map<string, { readonly reason: string; readonly at: number }[]>();
  const hearRecord = (object: unknown): void => {
    const { data } = checkpoint.safeParse(object);
    if (data === undefined) return;
    const waits = saved.get(data.metadata.name) ?? [];
    const { waitsFor = "" } = data.spec;
    if (waits.at(-1)?.reason !== waitsFor) waits.push({ reason: waitsFor, at: Date.now() / 1_000 });
    saved.set(data.metadata.name, waits);
  };
  const stop = subscribe(({ object }) => {
    hearRecord(object);
    const { data } = pod.safeParse(object);
    if (data === undefined || data.metadata.labels["spark-role"] === undefined) return;
    const key = data.metadata.name;
    if (!seen.has(key)) order.push({ at: "created", key });
    if (isEnded(data) && !isEnded(seen.get(key))) order.push({ at: "ended", key });
    seen.set(key, data);
  });
  const isOf = (application: string, key: string): boolean =>
    seen.get(key)?.metadata.labels["sparkoperator.k8s.io/app-name"] === application;
  return {
    stop,
    rows: (application) =>
      [...seen.values()]
        .filter(({ metadata }) => isOf(application, metadata.name))
        .map(({ metadata, spec, status }) => {
          const { running, terminated } = status.containerStatuses[0]?.state ?? {};
          const up = timeOf(running?.startedAt ?? terminated?.startedAt);
          return { pod: metadata.name, up, end: timeOf(terminated?.finishedAt), node: spec.nodeName };
        }),
    waits: (application) => {
      const waits = saved.get(`sparkapplication.${application}`) ?? [];
      return waits.flatMap(({ reason, at }, index) => {
        const next = waits[index + 1];
        return next === undefined || reason === "" ? [] : [{ reason, from: at, to: next.at }];
      });
    },
    successors: (application) => {
      const waiting: string[] = [];
      const found = new Map<string, string>();
      for (const { at, key } of order.filter(({ key }) => isOf(application, key))) {
        const lost = at === "created" ? waiting.shift() : undefined;
        if (lost !== undefined) found.set(lost, key);
        if (at === "ended") waiting.push(key);
      }
      return found;
    },
  };
};

/** Returns how shown rows differ from the expected ones, in any order. */
export const differences = (shown: readonly PodRow[], expected: readonly PodRow[]): readonly string[] => {
  const textOf = ({ pod: name, up, end, node }: PodRow): string => [name, up, end, node].join(" ");
  const [left, right] = [new Set(shown.map(textOf)), new Set(expected.map(textOf))];
  return [
    ...[...right].filter((text) => !left.has(text)).map((text) => `not shown: ${text}`),
    ...[...left].filter((text) => !right.has(text)).map((text) => `shown and not there: ${text}`),
  ];
};

/** A step saves up to this long after the server's clock that it has read, s. */
const lateS = 2;

/** Returns how shown waits differ from those of the saved records. Shorter waits than `lateS` may be left out. */
export const waitDifferences = (shown: readonly WaitRow[], saved: readonly WaitRow[]): readonly string[] => {
  const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= lateS;
  const isSame = (one: WaitRow, other: WaitRow): boolean =>
    one.reason === other.reason && isNear(one.from, other.from) && isNear(one.to, other.to);
  return [
    ...saved
      .filter((one) => one.to - one.from > lateS && !shown.some((other) => isSame(one, other)))
      .map(({ reason }) => `not shown: a wait for ${reason}`),
    ...shown
      .filter((one) => !saved.some((other) => isSame(one, other)))
      .map(({ reason }) => `shown and not saved: a wait for ${reason}`),
  ];
};
