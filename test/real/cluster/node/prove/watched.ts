/** Checks of the view from outside: images that cannot be pulled, probes, logs, jobs, and durations. */
import { testCase } from "../../../../support/test-case.ts";
import {
  type Check,
  container,
  ended,
  eventsOf,
  freshName,
  inPhase,
  logOf,
  must,
  post,
  remove,
  same,
  shell,
  took,
  until,
  waitsFor,
} from "./kit.ts";

const unknownImage: Check = testCase(
  "an unknown image: ErrImagePull, then ImagePullBackOff, Pending, with events",
  async (cluster) => {
    const name = await post(cluster, "unknown", {
      containers: [shell("true", { image: "example.com/nobody/knows:1" })],
    });
    await until(cluster, name, (pod) => waitsFor(container(pod).state) === "ErrImagePull");
    const pod = await until(cluster, name, (seen) => waitsFor(container(seen).state) === "ImagePullBackOff");
    same(pod.status?.phase, "Pending", "phase");
    const events = await eventsOf(cluster, name);
    must(
      events.some((text) => text.startsWith('Failed: Failed to pull image "example.com/nobody/knows:1"')),
      "events",
      events,
    );
    await remove(cluster, name);
    return "Pending, ImagePullBackOff";
  },
);

const probes: Check = testCase(
  "a readiness probe decides Ready; a failing liveness probe restarts",
  async (cluster) => {
    const readinessProbe = { httpGet: { path: "/", port: 8000 }, periodSeconds: 1 };
    const script = "sleep 1; exec python3 -m http.server 8000";
    const name = await post(cluster, "ready", { containers: [shell(script, { readinessProbe })] });
    const early = await until(cluster, name, inPhase("Running"));
    must(!container(early).ready, "ready before it serves", early.status);
    await until(cluster, name, (pod) => container(pod).ready);
    await remove(cluster, name);
    const livenessProbe = { exec: { command: ["false"] }, periodSeconds: 1, failureThreshold: 1 };
    const main = shell("exec sleep 1000", { livenessProbe });
    const dying = await post(cluster, "dying", { restartPolicy: "Always", containers: [main] });
    await until(cluster, dying, (pod) => container(pod).restartCount > 0);
    await remove(cluster, dying);
    return "Ready after it served; restarted";
  },
);

const logs: Check = testCase(
  "logs: the tail, followed to the end, of the start before, and cut after bytes",
  async (cluster) => {
    const script = "for n in 1 2 3 4 5; do echo line $n; sleep 0.2; done";
    const name = await post(cluster, "talks", { containers: [shell(script)] });
    await until(cluster, name, inPhase("Running", "Succeeded"));
    same(await logOf(cluster, name, "follow=true"), "line 1\nline 2\nline 3\nline 4\nline 5\n", "followed");
    same(await logOf(cluster, name, "tailLines=2"), "line 4\nline 5\n", "tail");
    same(await logOf(cluster, name, "limitBytes=4"), "line", "bytes");
    const volumes = [{ name: "v", emptyDir: {} }];
    const main = shell("echo x >> /v/n; cat /v/n; test $(wc -l < /v/n) -ge 2", {
      volumeMounts: [{ name: "v", mountPath: "/v" }],
    });
    const again = await post(cluster, "twice", { restartPolicy: "OnFailure", volumes, containers: [main] });
    await until(cluster, again, ended);
    same([await logOf(cluster, again, "previous=true"), await logOf(cluster, again)], ["x\n", "x\nx\n"], "previous");
    return "all as kubectl logs shows them";
  },
);

const jobs: Check = testCase("a Job of the real job controller completes", async ({ api }) => {
  const name = freshName("job");
  const template = { spec: { restartPolicy: "Never", containers: [shell("true")] } };
  const path = "/apis/batch/v1/namespaces/default/jobs";
  await api.call("POST", path, { metadata: { name }, spec: { completions: 3, parallelism: 3, template } });
  const { ms } = await took(
    api.until(`${path}/${name}`, ({ body }) => JSON.stringify(body).includes('"succeeded":3'), 20_000),
  );
  await api.call("DELETE", `${path}/${name}?propagationPolicy=Background`);
  return `3 pods in ${ms} ms`;
});

const setUpTime: Check = testCase("figures: how long a pod takes from its creation to its end", async (cluster) => {
  const all: number[] = [];
  for (let count = 0; count < 10; count++) {
    const name = await post(cluster, "quick", { containers: [shell("true")] });
    all.push((await took(until(cluster, name, ended))).ms);
  }
  const sorted = all.toSorted((left, right) => left - right);
  return `median ${sorted[5]} ms, worst ${sorted[9]} ms (looked at every 100 ms)`;
});

export const watchedChecks: readonly Check[] = [unknownImage, probes, logs, jobs, setUpTime];
