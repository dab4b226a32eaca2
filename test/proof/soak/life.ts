/**
 * The content of one life of a small cluster, drawn from a seed: applications, the scripts of their pods, and the deeds
 * of users and misfortune.
 */
import type { DriverScript, PodScript } from "../../../shared/simulator/nodes/script.ts";
import type { Chance } from "../sweep/chance.ts";
import { base } from "../sweep/scenario.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** An application as its user applies it. */
export type Applied = {
  readonly name: string;
  readonly spec: Fields;
  readonly annotations: Readonly<Record<string, string>>;
};

export type Role = "driver" | "executor";

/** An action of a user, or a misfortune of the cluster. */
export type Deed =
  | { readonly do: "apply"; readonly app: Applied }
  | { readonly do: "patch"; readonly name: string; readonly spec: Fields }
  | { readonly do: "annotate" | "delete"; readonly name: string }
  | { readonly do: "kill"; readonly name: string; readonly role: Role; readonly code: number; readonly nth: number }
  | { readonly do: "evict" | "remove"; readonly name: string; readonly role: Role; readonly nth: number }
  | { readonly do: "trigger"; readonly name: string; readonly times: number }
  | { readonly do: "restart" }
  | { readonly do: "unhear"; readonly ms: number }
  | { readonly do: "freeze" | "thaw" | "lose" | "join"; readonly node: string };

export type Dated = { readonly at: number; readonly deed: Deed };

export type Life = {
  readonly deeds: readonly Dated[];
  /** Probabilities (0 to 1) that a call, a message or a watch event goes wrong. */
  readonly rates: { readonly call: number; readonly message: number; readonly event: number };
};

export const nodes = ["node-1", "node-2", "node-3"] as const;

/** Duration of faults and misfortune, ms; afterwards everything heals and must come to rest. */
export const troubledMs = 30 * 60_000;
const namesOf = ["ada", "bob", "cyd"] as const;

const seconds = (chance: Chance, most: number): number => (1 + chance.below(most)) * 1_000;

const executorScripts = (chance: Chance): NonNullable<DriverScript["executors"]> => {
  if (chance.is(0.7)) return {};
  const odd: readonly PodScript[] = [
    { runMs: seconds(chance, 30), exitCode: 137, reason: "OOMKilled" },
    { pull: "fails" },
    { stopMs: 5_000 },
  ];
  return { [String(1 + chance.below(3))]: chance.pick(odd) };
};

/** Draws the script of one attempt's driver and executors. */
const attemptScript = (chance: Chance): DriverScript => {
  const executors = executorScripts(chance);
  const common = { executors, stopMs: chance.pick([0, 1_000, 5_000]) };
  return chance.pick<DriverScript>([
    { ...common, jobMs: seconds(chance, 20) },
    { ...common, jobMs: seconds(chance, 300) },
    { ...common, jobMs: seconds(chance, 20), exitCode: 1 },
    { ...common, hangs: true },
    { ...common, runMs: seconds(chance, 60), exitCode: 137, reason: "OOMKilled" },
    { ...common, startMs: seconds(chance, 60), jobMs: seconds(chance, 10) },
    { pull: "fails" },
  ]);
};

const policies = (chance: Chance): Fields => {
  const interval = 1 + chance.below(20);
  return chance.pick<Fields>([
    { type: "Never" },
    { type: "OnFailure", onFailureRetries: chance.below(4), onFailureRetryInterval: interval },
    { type: "OnFailure", onFailureRetries: 3, onFailureRetryInterval: interval, onSubmissionFailureRetries: 2 },
    { type: "Always" },
  ]);
};

const specFor = (chance: Chance): Fields => {
  const script = JSON.stringify(Array.from({ length: 4 }, () => attemptScript(chance)));
  return {
    ...base,
    restartPolicy: policies(chance),
    driver: { ...base.driver, annotations: { "simulator.rekindle.dev/script": script } },
    executor: { ...base.executor, instances: 1 + chance.below(3) },
    ...(chance.is(0.2) ? { timeToLiveSeconds: 5 + chance.below(60) } : {}),
    ...(chance.is(0.15) ? { suspend: true } : {}),
  };
};

const annotationsFor = (chance: Chance): Readonly<Record<string, string>> => ({
  ...(chance.is(0.2) ? { "rekindle.dev/driver-start-timeout": "45s" } : {}),
  ...(chance.is(0.2) ? { "rekindle.dev/restart-on": "infrastructure" } : {}),
});

const appliedAs = (chance: Chance, name: string): Applied => ({
  name,
  spec: specFor(chance),
  annotations: annotationsFor(chance),
});

const deedFor = (chance: Chance): readonly Deed[] => {
  const name = chance.pick(namesOf);
  const role = chance.pick<Role>(["driver", "executor", "executor"]);
  const nth = chance.below(4);
  const node = chance.pick(nodes);
  const kinds: readonly (() => readonly Deed[])[] = [
    () => [{ do: "patch", name, spec: { arguments: [String(chance.below(3))] } }],
    () => [{ do: "patch", name, spec: { suspend: chance.is(0.4) } }],
    () => [{ do: "patch", name, spec: { timeToLiveSeconds: 10 + chance.below(100) } }],
    () => [{ do: "annotate", name }],
    () => [{ do: "delete", name }],
    () => [{ do: "apply", app: appliedAs(chance, name) }],
    () => [
      { do: "delete", name },
      { do: "apply", app: appliedAs(chance, name) },
    ],
    () => [{ do: "kill", name, role, nth, code: chance.pick([0, 1, 137, 143]) }],
    () => [{ do: "evict", name, role, nth }],
    () => [{ do: "remove", name, role, nth }],
    () => [{ do: "trigger", name, times: 1 + chance.below(3) }],
    () => [{ do: "restart" }],
    () => [{ do: "unhear", ms: seconds(chance, 30) }],
    () => [{ do: "freeze", node }],
    () => [{ do: "thaw", node }],
    () => [
      { do: "lose", node },
      { do: "join", node: `${node}-${chance.below(1_000_000)}` },
    ],
  ];
  return chance.pick(kinds)();
};

const applications = (chance: Chance): readonly Dated[] =>
  namesOf.map((name) => ({ at: chance.below(300_000), deed: { do: "apply", app: appliedAs(chance, name) } }));

const most = 40;

const misfortunes = (chance: Chance): readonly Dated[] =>
  Array.from({ length: 10 + chance.below(most) }, () => chance.below(troubledMs)).flatMap((at) =>
    // Deeds drawn together start at the same time, or each 100 ms or 5 s after the one before.
    deedFor(chance).map((deed, index) => ({ at: at + index * chance.pick([0, 100, 5_000]), deed })),
  );

/** Returns the life of a seed: the same for each call with the same seed. */
export const lifeOf = (chance: Chance): Life => ({
  rates: {
    call: chance.pick([0, 0.005, 0.02, 0.05]),
    message: chance.pick([0, 0.02, 0.1]),
    event: chance.pick([0, 0.02, 0.2]),
  },
  deeds: [...applications(chance), ...misfortunes(chance)].sort((a, b) => a.at - b.at),
});
