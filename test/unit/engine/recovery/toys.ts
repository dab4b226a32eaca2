/** A toy kind with a recovery: a toy owns its parts and remembers its count. */
import type { Stored } from "../../../../shared/core/object.ts";
import type { Operator } from "../../../../shared/core/operator.ts";
import type { Recovery } from "../../../../shared/core/plan.ts";
import type { World } from "../../../../shared/engine/context/world.ts";
import type { CheckpointRecord, Loaded } from "../../../../shared/engine/ports.ts";
import { type Decide, decisionOf, eight, type Fixture, openFixture, parts, type Toy, toys } from "../fakes.ts";

const isToy = (stored: unknown): stored is Toy =>
  typeof stored === "object" && stored !== null && "count" in stored && typeof stored.count === "number";

const query = { do: "list", resource: parts, namespace: "ns", labels: { toy: "bear" } } as const;

const counted = (object: Stored): number => (isToy(object["status"]) ? object["status"].count : 0);

/**
 * A count below 0 stands for a run in another cluster, 1,000 for a run that was ended by order, 0 for a trimmed memory.
 */
const recovery: Recovery<Toy> = {
  ownedObjects: () => ({ queries: [query], owners: ["toy-1"] }),
  isLive: (object) => object.metadata.labels?.["old"] === undefined,
  rebuild: ({ object, found: [found = []], stored }) => {
    if (isToy(stored)) return { memory: { count: stored.count }, kept: ["count"], problems: [] };
    const problems = stored === undefined ? [] : ["memory.count: no number"];
    return { memory: { count: Math.max(counted(object), found.length) }, kept: [], problems };
  },
  voided: ({ count }) => ({ count: -count }),
  past: (before, after) =>
    before.count === after.count
      ? undefined
      : { attempt: before.count, endedAt: eight, outcome: "ended", error: "x".repeat(100) },
  trimmed: () => ({ count: 0 }),
};

export type ToyBox = Fixture & {
  /** The counts from which decisions were made, in order; undefined: no memory. */
  readonly counts: (number | undefined)[];
  readonly toyWorld: (more?: Partial<World>) => World;
};

type Kind = Partial<Recovery<Toy>>;

/** Opens a world whose toys have a recovery; `kind` replaces parts of it. */
export const toyBox = (kind: Kind = {}, decide?: Decide): ToyBox => {
  const base = openFixture();
  const counts: (number | undefined)[] = [];
  const deciding: Decide =
    decide ??
    ((view) => {
      counts.push(view.memory?.count);
      return { memory: view.memory ?? { count: 0 }, stages: [] };
    });
  const operator: Operator<Toy> = {
    kind: "Toy",
    resource: toys,
    watches: [],
    parse: (stored) => (isToy(stored) ? { ok: true, memory: { count: stored.count } } : { ok: false, error: "no toy" }),
    decide: (_, view) => decisionOf(deciding(view)),
    recovery: { ...recovery, ...kind },
  };
  const toyWorld = (more: Partial<World> = {}): World => ({ ...base.world, operatorOf: () => operator, ...more });
  return Object.assign(base, { counts, toyWorld });
};

export const good: CheckpointRecord = {
  schema: 1,
  cluster: "cluster-1",
  uid: "toy-1",
  saves: 7,
  memory: { count: 3 },
};

/** Returns checkpoints that hand out any record at all, as after damage or a manual edit, until the next save. */
export const stored = async (box: ToyBox, record: unknown, more: Partial<Loaded> = {}): Promise<Partial<World>> => {
  const { checkpoints } = box.world;
  const { save } = checkpoints;
  const key = { cluster: "here", kind: "Toy", namespace: "ns", name: "bear" };
  const version = await box.checkpoints.save(key, good, (await box.checkpoints.load(key))?.version);
  let touched = false;
  return {
    checkpoints: {
      ...checkpoints,
      load: async (at) => (touched ? await checkpoints.load(at) : { record, version, ...more }),
      save: async (at, next, before) => {
        const saved = await save(at, next, before);
        touched ||= saved !== "raced";
        return saved;
      },
    },
  };
};
