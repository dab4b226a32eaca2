/** Checks of the ends, the restarts and the deletion of containers and pods. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { testCase } from "../../../../support/test-case.ts";
import type { Cluster } from "../../cluster.ts";
import type { Pod } from "../objects.ts";
import {
  type Check,
  container,
  core,
  ended,
  endOf,
  inPhase,
  isGone,
  logOf,
  must,
  post,
  remove,
  runToEnd,
  same,
  shell,
  took,
  until,
  waitsFor,
} from "./kit.ts";

const exitCodes: Check = testCase("exit codes become phases; the termination message is kept", async (cluster) => {
  const good = await runToEnd(cluster, "good", { containers: [shell("exit 0")] });
  same([good.pod.status?.phase, endOf(good.pod).reason], ["Succeeded", "Completed"], "exit 0");
  const bad = await runToEnd(cluster, "bad", { containers: [shell("echo why > /dev/termination-log; exit 3")] });
  const { exitCode, reason, message } = endOf(bad.pod);
  same([bad.pod.status?.phase, exitCode, reason, message], ["Failed", 3, "Error", "why\n"], "exit 3");
  const two = await runToEnd(cluster, "two", { containers: [shell("exit 0"), shell("exit 1", { name: "other" })] });
  same(two.pod.status?.phase, "Failed", "one of two fails");
  return "0, 3, and 0 beside 1";
});

const notStartable: Check = testCase("a command that is not there is a StartError", async (cluster) => {
  const { pod } = await runToEnd(cluster, "absent", { containers: [shell("", { command: ["/no/such/program"] })] });
  same([pod.status?.phase, endOf(pod).exitCode, endOf(pod).reason], ["Failed", 128, "StartError"], "end");
  return endOf(pod).message ?? "";
});

const outOfMemory: Check = testCase("more memory than the limit is OOMKilled, 137", async (cluster) => {
  const script = "python3 -c 'x = bytearray(400_000_000)'";
  const limits = { resources: { limits: { memory: "100Mi" } } };
  const { pod } = await runToEnd(cluster, "oom", { containers: [shell(`exec ${script}`, limits)] });
  if (endOf(pod).exitCode === 0) return "skip: this machine has no memory controller that we may write to";
  same([endOf(pod).exitCode, endOf(pod).reason], [137, "OOMKilled"], "end");
  return "137, OOMKilled";
});

const restarts: Check = testCase(
  "OnFailure restarts until it works; Always ends in CrashLoopBackOff",
  async (cluster) => {
    const volume = { volumes: [{ name: "v", emptyDir: {} }] };
    const mounted = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const script = "echo x >> /v/n; test $(wc -l < /v/n) -ge 3";
    const name = await post(cluster, "again", {
      restartPolicy: "OnFailure",
      containers: [shell(script, mounted)],
      ...volume,
    });
    const pod = await until(cluster, name, ended, 20_000);
    same([pod.status?.phase, container(pod).restartCount], ["Succeeded", 2], "OnFailure");
    const loop = await post(cluster, "loop", { restartPolicy: "Always", containers: [shell("exit 7")] });
    const crashed = await until(cluster, loop, (seen) => waitsFor(container(seen).state) === "CrashLoopBackOff");
    const { lastState } = container(crashed);
    same(crashed.status?.phase, "Running", "phase in a crash loop");
    must("terminated" in lastState && lastState.terminated.exitCode === 7, "the last end", lastState);
    await remove(cluster, loop);
    await isGone(cluster, loop);
    return "2 restarts, then Succeeded; a crash loop is Running";
  },
);

const initContainers: Check = testCase(
  "init containers run in order; a failing one fails the pod before its containers start",
  async (cluster) => {
    const volumes = [{ name: "v", emptyDir: {} }];
    const mounted = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const step = (name: string): object => shell(`echo ${name} >> /v/order`, { name, ...mounted });
    const initContainers = [step("first"), step("second")];
    const good = await runToEnd(cluster, "inits", {
      initContainers,
      containers: [shell("cat /v/order", mounted)],
      volumes,
    });
    same([good.pod.status?.phase, good.log], ["Succeeded", "first\nsecond\n"], "order");
    const failing = [shell("exit 9", { name: "first" })];
    const bad = await runToEnd(cluster, "badinit", { initContainers: failing, containers: [shell("true")] });
    const states = [bad.pod.status?.phase, endOf(bad.pod, "first").exitCode, waitsFor(container(bad.pod).state)];
    same(states, ["Failed", 9, "PodInitializing"], "failing init");
    return "first, second; 9 → Failed";
  },
);

const sidecars: Check = testCase(
  "a sidecar is up before the containers and ended after them, whatever its exit code",
  async (cluster) => {
    const volumes = [{ name: "v", emptyDir: {} }];
    const mounted = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const probe = {
      startupProbe: { exec: { command: ["test", "-e", "/v/up"] }, periodSeconds: 1, failureThreshold: 20 },
    };
    const script = "sleep 0.5; touch /v/up; trap 'exit 0' TERM; while :; do sleep 0.1; done";
    const side = shell(script, { name: "side", restartPolicy: "Always", ...mounted, ...probe });
    const { pod, log } = await runToEnd(cluster, "side", {
      initContainers: [side],
      containers: [shell("ls /v", mounted)],
      volumes,
    });
    same([pod.status?.phase, log], ["Succeeded", "up\n"], "end");
    same(endOf(pod, "side").exitCode, 0, "the sidecar's end");
    return "up, then Succeeded";
  },
);

const deletions: Check = testCase(
  "deletion sends SIGTERM, waits for the grace, then SIGKILL; preStop comes first; the object goes last",
  async (cluster) => {
    const polite = await post(cluster, "polite", { containers: [shell("exec sleep 1000")] });
    await until(cluster, polite, inPhase("Running"));
    const seen: number[] = [];
    await remove(cluster, polite);
    const first = await took(isGone(cluster, polite));
    must(first.ms < 3000, "a process that ends on SIGTERM", first);
    const deaf = await post(cluster, "deaf", { containers: [shell("trap '' TERM; while :; do sleep 0.1; done")] });
    await until(cluster, deaf, inPhase("Running"));
    await sleep(200);
    await remove(cluster, deaf, "gracePeriodSeconds=2");
    const second = await took(isGone(cluster, deaf));
    must(second.ms > 1500 && second.ms < 6000, "a process that ignores SIGTERM", second);
    seen.push(first.ms, second.ms);
    const hook = { lifecycle: { preStop: { exec: { command: ["sh", "-c", "echo hook > /proc/1/root/v/said"] } } } };
    const mounted = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const script = "trap 'cat /v/said; exit 0' TERM; while :; do sleep 0.1; done";
    const volumes = [{ name: "v", emptyDir: {} }];
    const hooked = await post(cluster, "hooked", { volumes, containers: [shell(script, { ...hook, ...mounted })] });
    await until(cluster, hooked, inPhase("Running"));
    await cluster.api.call(
      "PATCH",
      `/api/v1/namespaces/default/pods/${hooked}`,
      { metadata: { finalizers: ["example.com/look"] } },
      "application/merge-patch+json",
    );
    await remove(cluster, hooked);
    const pod = await until(cluster, hooked, ended);
    same([await logOf(cluster, hooked), endOf(pod).exitCode], ["hook\n", 0], "preStop");
    await cluster.api.call(
      "PATCH",
      `/api/v1/namespaces/default/pods/${hooked}`,
      { metadata: { finalizers: null } },
      "application/merge-patch+json",
    );
    await isGone(cluster, hooked);
    return `gone after ${seen.join(" and ")} ms`;
  },
);

const finalState: Check = testCase(
  "SIGTERM shows as 143, a pod deleted with force leaves no process",
  async (cluster) => {
    const name = await post(cluster, "final", { containers: [shell("exec sleep 1000")] });
    await until(cluster, name, inPhase("Running"));
    const path = `/api/v1/namespaces/default/pods/${name}`;
    const finalizers = async (value: unknown): Promise<void> =>
      void (await cluster.api.call("PATCH", path, { metadata: { finalizers: value } }, "application/merge-patch+json"));
    await finalizers(["example.com/look"]);
    await remove(cluster, name);
    const pod = await until(cluster, name, ended);
    same([pod.status?.phase, endOf(pod).exitCode], ["Failed", 143], "end");
    await finalizers(null);
    await isGone(cluster, name);
    const forced = await post(cluster, "forced", { containers: [shell("exec sleep 1000")] });
    await until(cluster, forced, inPhase("Running"));
    const pid = await pidOf(cluster, forced);
    await remove(cluster, forced, "gracePeriodSeconds=0");
    const { ms } = await took(processGone(pid));
    return `143; process gone ${ms} ms after the force`;
  },
);

type Told = { readonly type: string; readonly object: Pod };

/**
 * Returns the phases and remaining grace periods of a pod that a watch shows from this version on, without repetitions.
 */
const toldSince = async ({ api }: Cluster, name: string, resourceVersion: string): Promise<readonly string[]> => {
  const query = `watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3D${name}&resourceVersion=${resourceVersion}`;
  const { body } = await api.call("GET", `${core}/pods?${query}`);
  const lines = (typeof body === "string" ? body : JSON.stringify(body)).trim().split("\n");
  const told = lines.map((line) => {
    const { type, object }: Told = JSON.parse(line);
    return `${type} ${object.status?.phase} ${object.metadata.deletionGracePeriodSeconds}`;
  });
  return told.filter((line, at) => line !== told[at - 1]);
};

/** The simulator's kubelets must satisfy the same in test/unit/simulator/nodes/kubelet.test.ts. */
const terminalFirst: Check = testCase(
  "a deleted pod gets its terminal phase before it goes: Succeeded for 0, Failed for another code and where it never ran",
  async (cluster) => {
    const polite = "trap 'exit 0' TERM; while :; do sleep 0.1; done";
    const cases = [
      ["zero", shell(polite), "Running", "Succeeded"],
      ["term", shell("exec sleep 1000"), "Running", "Failed"],
      ["never", shell("true", { image: "example.com/nobody/knows:1" }), "Pending", "Failed"],
    ] as const;
    for (const [word, main, before, after] of cases) {
      const name = await post(cluster, word, { containers: [main] });
      const isWaiting = (pod: Pod): boolean => waitsFor(container(pod).state) === "ImagePullBackOff";
      await until(cluster, name, before === "Running" ? inPhase("Running") : isWaiting);
      await sleep(300);
      const { metadata } = await until(cluster, name, inPhase(before));
      await remove(cluster, name);
      await isGone(cluster, name);
      const wanted = [`MODIFIED ${before} 5`, `MODIFIED ${after} 5`, `MODIFIED ${after} 0`, `DELETED ${after} 0`];
      same(await toldSince(cluster, name, metadata.resourceVersion), wanted, word);
    }
    return "Succeeded, Failed, Failed; then the grace is taken away, then the pod";
  },
);

/** Returns the host's pid of a container's process, on any node. */
export const pidOf = async (cluster: Cluster, pod: string, name = "main"): Promise<number> => {
  for (const end = performance.now() + 10_000; performance.now() < end; await sleep(20)) {
    for (const node of cluster.nodes) {
      const file = join(cluster.dir, node.name, "pids", "default", pod, name);
      const text = await readFile(file, "utf8").catch(() => "");
      if (text !== "") return Number(text);
    }
  }
  throw new Error(`${pod} runs on no node`);
};

export const processGone = async (pid: number): Promise<void> => {
  for (const end = performance.now() + 5000; performance.now() < end; await sleep(10)) {
    const state = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    if (state === "" || /^\d+ \(.*\) Z/.test(state)) return;
  }
  throw new Error(`process ${pid} still lives`);
};

const killed: Check = testCase("a process killed with SIGKILL is Failed 137 within a second", async (cluster) => {
  const name = await post(cluster, "killed", { containers: [shell("exec sleep 1000")] });
  await until(cluster, name, inPhase("Running"));
  process.kill(await pidOf(cluster, name), "SIGKILL");
  const { value: pod, ms } = await took(until(cluster, name, ended));
  same([pod.status?.phase, endOf(pod).exitCode, endOf(pod).reason], ["Failed", 137, "Error"], "end");
  must(ms < 1000, "too slow", ms);
  return `${ms} ms`;
});

const deadline: Check = testCase("activeDeadlineSeconds ends a pod with DeadlineExceeded", async (cluster) => {
  const { pod } = await runToEnd(cluster, "overdue", {
    activeDeadlineSeconds: 1,
    containers: [shell("exec sleep 100")],
  });
  same([pod.status?.phase, pod.status?.reason], ["Failed", "DeadlineExceeded"], "end");
  return "Failed, DeadlineExceeded";
});

export const endChecks: readonly Check[] = [
  exitCodes,
  notStartable,
  outOfMemory,
  restarts,
  initContainers,
  sidecars,
  deletions,
  finalState,
  terminalFirst,
  killed,
  deadline,
];
