/**
 * Gangs that get the room of others on a real scheduler and a real Eviction API: by priority, within a disruption budget, and
 * by what queues deserve.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Case, must, running, type Scene } from "../scene.ts";
import {
  bound,
  createGangs,
  type Fixture,
  type GangForm,
  inNamespace,
  judge,
  untilBound,
  untilCompleted,
} from "./fixture.ts";

const evicting = (mode: "preempt" | "reclaim"): readonly string[] => ["--gang", "builtin", "--gang-evict", mode];

const created = async ({ cluster }: Scene, path: string, body: object): Promise<void> => {
  const { status, body: answer } = await cluster.api.call("POST", path, body);
  must(status === 201 || status === 409, `${path}: ${status} ${JSON.stringify(answer)}`);
};

export const createClass = (
  scene: Scene,
  name: string,
  value: number,
  more: { readonly globalDefault?: true } = {},
): Promise<void> =>
  created(scene, "/apis/scheduling.k8s.io/v1/priorityclasses", {
    ...{ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, value },
    ...more,
  });

const createQueue = (scene: Scene, name: string, cpu: string): Promise<void> =>
  created(scene, "/apis/scheduling.volcano.sh/v1beta1/queues", {
    ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", metadata: { name } },
    spec: { weight: 1, reclaimable: true, deserved: { cpu } },
  });

const budgetsOf = (namespace: string): string => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;

/** The number of pods of a gang that ever were. */
const everOf = ({ record, namespace }: Fixture, name: string): number =>
  new Set(
    record
      .changes(namespace)
      .filter(({ job }) => job === name)
      .map(({ uid }) => uid),
  ).size;

/** The victim needs two nodes of three; the claimant needs two, too. */
const two = (name: string, seconds: number, more: Partial<GangForm> = {}): GangForm => ({
  ...{ name, pods: 2, cpu: "2", seconds },
  ...more,
});

const preempting = async (fixture: Fixture): Promise<readonly string[]> => {
  const { scene, namespace } = fixture;
  await createClass(scene, "gang-low", 10);
  await createClass(scene, "gang-high", 1_000);
  const forms = [
    two("guarded", 15, { pods: 1, priorityClassName: "gang-low" }),
    two("low", 15, { priorityClassName: "gang-low" }),
    two("high", 5, { priorityClassName: "gang-high" }),
  ];
  const [guarded, low, high] = forms;
  await created(scene, budgetsOf(namespace), {
    ...{ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "guarded" } },
    spec: { maxUnavailable: 0, selector: { matchLabels: { "volcano.sh/job-name": "guarded" } } },
  });
  await createGangs(
    fixture,
    [guarded, low].filter((form) => form !== undefined),
  );
  await untilBound(fixture, "guarded", 1);
  await untilBound(fixture, "low", 2);
  await sleep(2_000);
  await createGangs(
    fixture,
    [high].filter((form) => form !== undefined),
  );
  await untilBound(fixture, "high", 2);
  must(bound(fixture, "low") === 0, "the low gang has pods beside the high one");
  must(bound(fixture, "guarded") === 1, "a guarded pod was evicted");
  for (const { name } of forms) await untilCompleted(fixture, name);
  judge(
    fixture,
    forms.filter(({ name }) => name !== "low"),
  );
  must(fixture.record.of(namespace, "low").retries === 0, "the low gang spent a retry");
  must(everOf(fixture, "low") === 4, `the low gang had ${everOf(fixture, "low")} pods, expected 4`);
  const reasons = [...fixture.record.of(namespace, "low").reasons];
  must(
    reasons.some((reason) => /^Evicted: /.test(reason)),
    `the low gang says ${reasons.join("; ")}`,
  );
  return [...reasons.filter((reason) => /vict/.test(reason)), "the low gang ran again, without a retry"];
};

const reclaiming = async (fixture: Fixture): Promise<readonly string[]> => {
  const { scene, namespace } = fixture;
  await createQueue(scene, "gang-mine", "2");
  await createQueue(scene, "gang-theirs", "4");
  await sleep(3_000);
  const theirs = ["one", "two", "three"].map((name) => two(name, 20, { pods: 1, queue: "gang-theirs" }));
  const mine = [two("first", 5, { pods: 1, queue: "gang-mine" }), two("second", 5, { pods: 1, queue: "gang-mine" })];
  await createGangs(fixture, theirs);
  for (const { name } of theirs) await untilBound(fixture, name, 1);
  await sleep(2_000);
  await createGangs(fixture, mine);
  const all = [...theirs, ...mine];
  for (const { name } of all) await untilCompleted(fixture, name);
  for (const { name } of all) must(fixture.record.of(namespace, name).retries === 0, `${name} spent a retry`);
  const evicted = theirs.filter(({ name }) => everOf(fixture, name) > 1).map(({ name }) => name);
  must(evicted.length === 1, `${evicted.join(", ") || "nobody"} gave room, expected one of three`);
  return [
    `${evicted.join()} gave its room, and ran again; the other group of the queue waited: its queue had what it deserves`,
  ];
};

export const evictionCases: readonly Case[] = [
  {
    name: "preempt: a gang of a higher priority gets the room of one without a budget, which runs again without a retry",
    run: (scene) =>
      inNamespace(scene, "gang-preempt", (fixture) => running(scene, () => preempting(fixture), evicting("preempt"))),
  },
  {
    name: "reclaim: a gang whose queue has less than it deserves gets the room of one of a queue that has more",
    run: (scene) =>
      inNamespace(scene, "gang-reclaim", (fixture) => running(scene, () => reclaiming(fixture), evicting("reclaim"))),
  },
];
