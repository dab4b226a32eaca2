/**
 * Scenarios in which upstream's controller fails its users (A to I), drains (J), queues with a capability (K), and quotas (L). Each runs on real pods
 * under a host that is killed at random: a Job, an action on it, and the state that the API must show at the end.
 */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { patienceMs } from "../../cluster/api.ts";
import { kubectl, must } from "../scene.ts";
import { phaseOf, podsOf, uidsOf, until } from "./book.ts";
import { gracefulDrains } from "./drains.ts";
import { jobsPath } from "./examples.ts";
import { type Fixture, serves } from "./fixture.ts";
import {
  abortedBy,
  commands,
  countedAs,
  created,
  endless,
  lingering,
  onEvent,
  type Scenario,
  type Started,
  shown,
  through,
  untilPhase,
  untilPods,
  untilUp,
  workers,
} from "./jobs.ts";
import { boundedQueues, refusedPods } from "./rooms.ts";
import { unknownTwice } from "./unknown.ts";

/** Asserts that every pod is a new one. */
const allNew = (before: readonly string[], { page }: Started): void => {
  const kept = uidsOf(page).filter((uid) => before.includes(uid));
  must(kept.length === 0, `${kept.length} pods are still the old ones`);
};

const completedUnseen: Scenario = {
  letter: "A",
  name: "a master that succeeds while no controller lives completes its job",
  run: async (fixture, namespace) => {
    const master = {
      name: "master",
      replicas: 1,
      runs: [through("end", 0)],
      ...onEvent("TaskCompleted", "CompleteJob"),
    };
    const job = await created(fixture, namespace, { name: "a", tasks: [master, workers([endless])] });
    await untilUp(job, 3);
    await fixture.unseen(async () => {
      await job.open("end");
      await untilPods(job, "Succeeded", 1);
      must(phaseOf(job.page) === "Running", `${phaseOf(job.page)} without a controller`);
    });
    await untilPhase(job, "Completed");
    await until("its workers ended", () => podsOf(job.page).length === 1, job.page, patienceMs);
    countedAs(job, 0, 1);
    must(job.page.last?.status?.succeeded === 1, `succeeded is ${job.page.last?.status?.succeeded}, expected 1`);
    return [shown(job), "upstream: Running for ever"];
  },
};

const failedUnseen: Scenario = {
  letter: "B",
  name: "a pod that fails while no controller lives restarts its job",
  run: async (fixture, namespace) => {
    const spec = onEvent("PodFailed", "RestartJob");
    const job = await created(fixture, namespace, { name: "b", tasks: [workers([through("fail", 3)])], spec });
    await untilUp(job, 2);
    const before = uidsOf(job.page);
    await fixture.unseen(async () => {
      await job.open("fail");
      await untilPods(job, "Failed", 1);
    });
    await untilUp(job, 2, 1);
    allNew(before, job);
    countedAs(job, 1, 1);
    return [shown(job), "upstream: no restart"];
  },
};

const evictedUnseen: Scenario = {
  letter: "C",
  name: "a pod that is deleted while no controller lives restarts its job",
  run: async (fixture, namespace) => {
    const spec = onEvent("PodEvicted", "RestartJob");
    const job = await created(fixture, namespace, { name: "c", tasks: [workers([endless])], spec });
    await untilUp(job, 2);
    const before = uidsOf(job.page);
    await fixture.unseen(() => kubectl(fixture.scene.cluster, ["delete", "pod", "-n", namespace, "c-w-0", "--wait"]));
    await untilUp(job, 2, 1);
    allNew(before, job);
    countedAs(job, 1, 1);
    return [shown(job), "upstream: silently one new pod"];
  },
};

const waitMs = 12_000;

const healthy: Scenario = {
  letter: "D",
  name: "a healthy job with a policy for pods that wait too long outlives its controllers",
  run: async (fixture, namespace) => {
    const spec = onEvent("PodPending", "RestartJob", { timeout: `${waitMs / 1_000}s` });
    const job = await created(fixture, namespace, { name: "d", tasks: [workers([endless])], spec });
    await untilUp(job, 2);
    const before = uidsOf(job.page);
    await fixture.unseen(async () => {});
    await sleep(waitMs + 5_000);
    await fixture.unseen(async () => {});
    await sleep(waitMs);
    must(uidsOf(job.page).join() === before.join(), "its pods are others");
    must(job.page.phases.join() === "Pending,Running", shown(job));
    countedAs(job, 0, 0);
    return [shown(job), "upstream: restarted by its own restart"];
  },
};

const abortedInRestart: Scenario = {
  letter: "F",
  name: "an AbortJob command that comes while a job restarts aborts it",
  run: async (fixture, namespace) => {
    if (!(await serves(fixture.scene, `${commands}/commands`)))
      return { missing: `${commands}/commands is not among Rekindle's kinds` };
    const spec = onEvent("PodFailed", "RestartJob");
    const tasks = [workers([lingering("fail", 3, 8)], 3)];
    const job = await created(fixture, namespace, { name: "f", tasks, spec });
    await untilUp(job, 3);
    await job.open("fail");
    await untilPhase(job, "Restarting");
    await abortedBy(fixture, job);
    must(uidsOf(job.page).length === 0, "pods of an aborted job are left");
    return [shown(job), "upstream: swallowed"];
  },
};

const secondContainer: Scenario = {
  letter: "G",
  name: "the exit code of a second container counts",
  run: async (fixture, namespace) => {
    const spec = { policies: [{ exitCode: 42, action: "TerminateJob" }] };
    const tasks = [workers(["sleep 2", "sleep 2; exit 42"], 1), { name: "other", replicas: 1, runs: [endless] }];
    const job = await created(fixture, namespace, { name: "g", tasks, spec });
    await untilPhase(job, "Terminated");
    countedAs(job, 0, 1);
    must(job.page.last?.status?.failed === 1, `failed is ${job.page.last?.status?.failed}, expected 1`);
    return [shown(job), "upstream: ignored"];
  },
};

const equalNames: Scenario = {
  letter: "H",
  name: "two tasks of one name are told, and no other job waits for them",
  run: async (fixture, namespace) => {
    const { api } = fixture.scene.cluster;
    const good = { name: "h-good", tasks: [workers([endless])] };
    const bad = ["h-1", "h-2", "h-3", "h-4"];
    // Admission may refuse the duplicates before they are stored.
    const spec = { schedulerName: "volcano", tasks: [task, task] };
    const before = await created(fixture, namespace, good);
    const stored: string[] = [];
    for (const name of bad) {
      const body = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata: { name, namespace }, spec };
      const reply = await api.call("POST", jobsPath(namespace), body);
      if (reply.status === 201) stored.push(name);
      else must(/duplicated task name/.test(JSON.stringify(reply.body)), JSON.stringify(reply.body));
    }
    const after = await created(fixture, namespace, { ...good, name: "h-later" });
    await Promise.all([untilUp(before, 2), untilUp(after, 2)]);
    for (const name of stored) {
      const page = fixture.book.of(namespace, name);
      const said = (): string => page.last?.status?.state.message ?? "";
      await until("told what is wrong", () => /duplicated task name same/.test(said()), page, patienceMs);
      must(page.pods.size === 0, `${name} has pods`);
    }
    return [`${bad.length} such jobs beside two good ones: ${stored.length} stored and told, the others refused`];
  },
};

const task = {
  name: "same",
  replicas: 1,
  template: { spec: { containers: [{ name: "c", image: "busybox:1.36", command: ["sleep", "infinity"] }] } },
};

const identified = z.object({
  metadata: z.object({ uid: z.string(), resourceVersion: z.string() }),
  data: z.unknown().optional(),
});

/** Returns UID and data of the objects that the plugins created for all pods. */
const sharedOf = async ({ scene }: Fixture, namespace: string): Promise<readonly string[]> => {
  const paths = [
    `/api/v1/namespaces/${namespace}/services/i`,
    `/api/v1/namespaces/${namespace}/configmaps/i-svc`,
    `/api/v1/namespaces/${namespace}/secrets/i-ssh`,
    `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies/i`,
  ];
  const replies = await Promise.all(paths.map((path) => scene.cluster.api.call("GET", path)));
  return replies.map(({ body }, at) => {
    const { metadata, data } = identified.parse(body);
    return `${paths[at]} ${metadata.uid} ${JSON.stringify(data)}`;
  });
};

const sharedObjects: Scenario = {
  letter: "I",
  name: "a restarted pod leaves the job's service, hosts, network policy and keys as they are",
  run: async (fixture, namespace) => {
    const spec = { ...onEvent("PodFailed", "RestartPod"), plugins: { svc: [], ssh: [] } };
    const job = await created(fixture, namespace, { name: "i", tasks: [workers([through("fail", 3)], 3)], spec });
    await untilUp(job, 3);
    const [before, pods] = [await sharedOf(fixture, namespace), uidsOf(job.page)];
    await job.open("fail");
    await until("restarted", () => job.page.last?.status?.retryCount === 1, job.page, patienceMs);
    await untilUp(job, 3);
    const kept = uidsOf(job.page).filter((uid) => pods.includes(uid));
    must(kept.length === 2, `${kept.length} pods are the same, expected the two that did not fail`);
    const after = await sharedOf(fixture, namespace);
    must(after.join() === before.join(), "shared objects were made anew");
    countedAs(job, 1, 0);
    return [shown(job), "upstream: all of them removed, and a new key"];
  },
};

export const scenarios: readonly Scenario[] = [
  completedUnseen,
  failedUnseen,
  evictedUnseen,
  healthy,
  unknownTwice,
  abortedInRestart,
  secondContainer,
  equalNames,
  sharedObjects,
  gracefulDrains,
  boundedQueues,
  refusedPods,
];
