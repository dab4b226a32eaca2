/** Reads, steps and waits that a job saves. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { same } from "../../../../shared/core/json.ts";
import type { Query } from "../../../../shared/core/plan.ts";
import { decide, volcanoJob } from "../../../../shared/volcano/job/decide.ts";
import { does, waitIn } from "../../../support/plans.ts";
import { eight, type JobFixture, key, openJob, task } from "./fixtures.ts";

const restarting = (action: string) => ({
  tasks: [task("w", 3)],
  policies: [{ event: "PodFailed", action }],
  maxRetry: 3,
});

const looks = (fixture: JobFixture): readonly Query[] => {
  const object = fixture.own();
  const view = { object, uid: object.metadata.uid, memory: fixture.memory, now: eight, refused: [] };
  const first = decide(key, view).next();
  return first.done === true ? [] : first.value;
};

const pluralOf = (query: Query): string => {
  if (query.do === "list") return query.resource.plural;
  return query.do === "get" ? query.ref.resource.plural : query.do;
};

describe("a new job", () => {
  const fixture = openJob({ tasks: [task("w", 2)] });

  test("reads no PodGroup in its first step, since the group's name has its UID, and watched lists later", () => {
    assert.deepEqual(looks(fixture).map(pluralOf), ["pods", "commands", "queues"]);
    fixture.step();
    assert.deepEqual(looks(fixture).map(pluralOf), ["pods", "podgroups", "commands", "queues"]);
    const { uid } = fixture.own().metadata;
    const watched = volcanoJob.watched?.(key, { object: fixture.own(), uid, memory: fixture.memory }) ?? [];
    assert.ok(looks(fixture).every((query) => watched.some((one) => same(one, query))));
  });

  test("uses its status as its record until it sees its pods, unless it has plugins", () => {
    const spec = { tasks: [task("w", 2)] };
    const first = (more: Readonly<Record<string, unknown>>) =>
      openJob({ ...spec, ...more }).step().safety?.statusIsRecord;
    assert.deepEqual([first({}), first({ plugins: { svc: [] } })], [true, undefined]);
    const admitted = openJob(spec);
    admitted.step();
    admitted.admit();
    const creating = admitted.step();
    const seeing = admitted.step();
    assert.deepEqual(
      [creating, seeing].map(({ safety, stages }) => [safety?.statusIsRecord, stages.flat().length]),
      [
        [true, 2],
        [undefined, 0],
      ],
    );
    assert.deepEqual(seeing.status, creating.status, "a status that is the record counts pods before they exist");
    assert.equal(seeing.status?.["pending"], 2);
  });

  test("has a record before pods that take more than one round of creations", () => {
    const large = openJob({ tasks: [task("w", 500)] });
    large.step();
    large.admit();
    large.deeds.length = 0;
    large.step();
    assert.deepEqual([large.deeds.length, large.last?.safety?.statusIsRecord], [500, undefined]);
  });

  test("waits for its PodGroup without another step, and without a timer", () => {
    assert.deepEqual(
      [fixture.last?.safety?.live, does(fixture.last, "again"), waitIn(fixture.last).pollMs],
      [undefined, undefined, undefined],
    );
  });

  test("with a status of another controller reads both of its PodGroups", () => {
    const left = openJob({ tasks: [task("w", 2)] }, { status: { state: { phase: "Running" } } });
    assert.equal(
      looks(left)
        .map(pluralOf)
        .filter((plural) => plural === "podgroups").length,
      2,
    );
  });
});

describe("a step on cached objects", () => {
  test("needs no live reads to act on a pod that was read again", () => {
    const fixture = openJob(restarting("RestartPod")).running();
    fixture.fail("j-w-1", 3);
    assert.equal(fixture.step().safety?.live, undefined);
  });

  test("reads a failed pod and an evicted pod by their names before it acts on them", () => {
    const asked: (Query & { readonly do: "get" })[] = [];
    const watching = (fixture: JobFixture): void => {
      fixture.blind = (query) => {
        if (query.do === "get" && query.ref.resource.plural === "pods") asked.push(query);
        return false;
      };
    };
    const failing = openJob(restarting("RestartPod")).running();
    watching(failing);
    failing.fail("j-w-1", 3);
    failing.step();
    const evicted = openJob({
      ...restarting("RestartPod"),
      policies: [{ event: "PodEvicted", action: "RestartPod" }],
    });
    evicted.running();
    watching(evicted);
    evicted.objects.delete("pods/j-w-1");
    evicted.step();
    assert.deepEqual(
      asked.map(({ ref }) => ref.name),
      ["j-w-1", "j-w-1"],
    );
  });

  test("needs live reads to abort, to complete and to shrink a job", () => {
    const aborting = openJob(restarting("AbortJob")).running();
    aborting.fail("j-w-1", 3);
    aborting.step();
    assert.deepEqual([aborting.step().safety?.live, aborting.memory?.phase], [true, "Aborted"]);
    const done = openJob(restarting("RestartJob")).running();
    done.pods("Succeeded");
    done.step();
    assert.deepEqual([done.memory?.phase, done.last?.safety?.live], ["Completed", true]);
    const shrinking = openJob(restarting("RestartJob")).running();
    shrinking.change("jobs", "j", { spec: { tasks: [task("w", 1)] }, metadata: { generation: 2 } });
    assert.equal(shrinking.step().safety?.live, true);
  });

  test("needs live reads for an action that no pod is read again for", () => {
    const ordered = openJob({ tasks: [task("w", 1)] }).running();
    ordered.change("jobs", "j", { metadata: { annotations: { "rekindle.dev/suspend": "true" } } });
    assert.equal(ordered.step().safety?.live, true);
  });

  test("needs live reads if the pod that its action rests on is not found by its name", () => {
    const fixture = openJob(restarting("RestartPod")).running();
    fixture.fail("j-w-1", 3);
    fixture.blind = (query) => query.do === "get" && query.ref.resource.plural === "pods";
    const { safety, stages, next } = fixture.step(true);
    assert.deepEqual([safety?.live, stages, next], [true, [], { do: "wait", pollMs: 1_000 }]);
  });

  test("needs live reads for an Event that is owed beside an action for which no pod is read again", () => {
    const policies = [{ event: "PodFailed", action: "AbortJob", timeout: "10m" }];
    const fixture = openJob({ tasks: [task("w", 3)], policies }).running();
    fixture.fail("j-w-1", 3);
    const owed = fixture.step(true);
    fixture.order("TerminateJob");
    const beside = fixture.step(true);
    assert.deepEqual(
      [owed, beside].map(({ safety, stages, next }) => [
        safety?.live,
        stages.flat().map(({ do: act }) => act),
        next.do,
      ]),
      [
        [undefined, ["record"], "continue"],
        [true, ["record"], "continue"],
      ],
    );
  });

  test("rests when a finished job needs nothing, and not when its PodGroup has come back", () => {
    const done = openJob(restarting("RestartJob")).running();
    const [group] = [...done.objects.values()].filter(({ kind }) => kind === "PodGroup");
    done.pods("Succeeded");
    done.step();
    const before = done.memory;
    const rest = done.step();
    assert.deepEqual([rest.memory, rest.stages, rest.status], [before, [], done.own().status]);
    assert.ok(group);
    done.put("podgroups", { ...group });
    const plan = done.step();
    assert.deepEqual([plan.stages.flat().map(({ do: act }) => act), plan.safety?.live], [["delete"], true]);
  });

  test("fences a status with a phase that it did not reach itself", () => {
    const fixture = openJob(restarting("RestartPod")).running();
    const late = fixture.memory;
    fixture.fail("j-w-1", 3);
    fixture.step();
    fixture.memory = late;
    assert.equal(fixture.step().safety?.fenced, true);
    assert.equal(openJob(restarting("RestartPod")).step().safety?.fenced, undefined);
  });
});

describe("a finished pod that a policy restarts", () => {
  test("is created again in the step that deletes it", () => {
    const fixture = openJob(restarting("RestartPod")).running();
    fixture.deeds.length = 0;
    fixture.fail("j-w-1", 3);
    fixture.step();
    assert.deepEqual(fixture.deeds, ["delete pods j-w-1", "create pods j-w-1"]);
    assert.equal(fixture.phases.at(-1), "Restarting");
  });

  const rows = [
    ["with a finalizer", restarting("RestartPod"), { metadata: { finalizers: ["example.com/held"] } }],
    ["at the last retry", { ...restarting("RestartPod"), maxRetry: 1 }, {}],
  ] as const;
  for (const [which, spec, more] of rows)
    test(`${which} is not created again in that step`, () => {
      const fixture = openJob(spec).running();
      fixture.change("pods", "j-w-1", more);
      fixture.deeds.length = 0;
      fixture.fail("j-w-1", 3);
      fixture.step();
      assert.deepEqual(fixture.deeds, ["delete pods j-w-1"]);
    });

  test("is created again alone: running pods are only deleted in that step", () => {
    const fixture = openJob(restarting("RestartTask")).running();
    fixture.deeds.length = 0;
    fixture.fail("j-w-1", 3);
    fixture.step();
    assert.deepEqual(
      fixture.deeds.filter((deed) => deed.startsWith("create")),
      ["create pods j-w-1"],
    );
  });
});

describe("a job of many pods", () => {
  const many = (count: number): JobFixture => {
    const fixture = openJob({ tasks: [task("w", count)] }).run();
    fixture.admit();
    fixture.deeds.length = 0;
    fixture.step();
    return fixture;
  };

  test("creates a thousand pods in one step, each once", () => {
    const fixture = many(1_000);
    assert.equal(fixture.deeds.length, 1_000);
    assert.deepEqual([does(fixture.last, "continue"), does(fixture.last, "again")], [undefined, undefined]);
  });

  test("creates at most 1,600 pods in one step and leaves the rest to the next", () => {
    const fixture = many(3_000);
    assert.equal(fixture.deeds.length, 1_600);
    assert.equal(does(fixture.last, "again"), true);
  });
});

test("a step reads a PodGroup that it leaves behind twice before it counts the group as gone", () => {
  const fixture = openJob(restarting("RestartJob")).running();
  const [name = ""] = fixture.names("podgroups");
  const uid = fixture.objects.get(`podgroups/${name}`)?.metadata.uid;
  fixture.fail("j-w-1", 3);
  fixture.blind = (query) => query.do === "get" && query.ref.name === name;
  fixture.step();
  assert.deepEqual([fixture.memory?.version, fixture.memory?.retired], [1, uid]);
});

test("policy events that an action leaves over lead to another step at once", () => {
  const fixture = openJob({ ...restarting("RestartPod"), maxRetry: 9 }).running();
  fixture.fail("j-w-1", 3);
  assert.equal(does(fixture.step(), "again"), undefined);
  fixture.fail("j-w-0", 3);
  fixture.fail("j-w-2", 3);
  assert.equal(does(fixture.step(), "again"), true);
});

describe("the watches of a job", () => {
  const watchOf = (plural: string) => volcanoJob.watches.find(({ resource }) => resource.plural === plural);
  const pod = (phase: string) => ({
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "p", uid: "u", resourceVersion: "1" } },
    ...{ spec: { nodeName: "n", containers: [{ name: "c" }] }, status: { phase, podIP: "10.0.0.1" } },
  });

  test("send an urgent key for a pod's failure", () => {
    const urgent = watchOf("pods")?.urgent;
    assert.deepEqual(
      [
        urgent?.(pod("Running"), pod("Failed")),
        urgent?.(pod("Failed"), pod("Failed")),
        urgent?.(pod("Failed"), undefined),
      ],
      [true, false, false],
    );
  });

  test("send an urgent key for the admission of a group, so that pods are created without a wait", () => {
    const urgent = watchOf("podgroups")?.urgent;
    const group = (phase?: string) => ({
      ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup" },
      ...{ metadata: { name: "g", uid: "u", resourceVersion: "1" } },
      ...(phase === undefined ? {} : { status: { phase } }),
    });
    assert.deepEqual(
      [
        urgent?.(group(), group("Inqueue")),
        urgent?.(group("Pending"), group("Running")),
        urgent?.(undefined, group("Inqueue")),
        urgent?.(undefined, group()),
        urgent?.(group(), group("Pending")),
        urgent?.(group("Inqueue"), group("Running")),
        urgent?.(group("Running"), undefined),
      ],
      [true, true, true, false, false, false, false],
    );
  });

  test("keep a job whole while it has no status, and once its spec has changed", () => {
    const trimmed = watchOf("jobs")?.trim;
    const job = (generation: number, phase?: string) => ({
      ...{ apiVersion: "v1", kind: "Job", metadata: { name: "j", uid: "u", resourceVersion: "1", generation } },
      ...(phase === undefined ? {} : { status: { state: { phase } } }),
    });
    const isWhole = [
      trimmed?.(job(1)),
      trimmed?.(job(1, "Pending")),
      trimmed?.(job(1, "Running"), job(1, "Pending")),
      trimmed?.(job(2, "Running"), job(1, "Running")),
    ].map((one) => one?.["whole"] !== undefined);
    assert.deepEqual(isWhole, [true, false, false, true]);
  });

  test("keep a pod's node and phase, a PodGroup's spec and status, and a Command's action and target", () => {
    const trimmed = watchOf("pods")?.trim?.(pod("Running"));
    assert.deepEqual([trimmed?.["spec"], trimmed?.["status"]], [{ nodeName: "n" }, { phase: "Running" }]);
    const fields = { spec: { minMember: 2, queue: "q" }, status: { phase: "Running", running: 2 } };
    const group = watchOf("podgroups")?.trim?.({ ...pod(""), ...fields });
    assert.deepEqual([group?.["spec"], group?.["status"]], [fields.spec, fields.status]);
    const command = watchOf("commands")?.trim?.({ ...pod(""), action: "AbortJob", target: { name: "j" } });
    assert.deepEqual([command?.["action"], command?.["target"]], ["AbortJob", { name: "j" }]);
  });
});
