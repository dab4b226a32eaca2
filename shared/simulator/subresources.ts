/** Subresources of pods and service accounts that act rather than store: log, eviction, binding, proxy, token. */

import type { Call, Result, Subresources } from "./api/answer.ts";
import { busyUntil, disrupted, isUp, mainExit, phaseOf } from "./nodes/pod-status.ts";
import { bind } from "./nodes/scheduler.ts";
import type { Driver, Gauge, Memory, PodScript } from "./nodes/script.ts";
import { kindOfTable } from "./schema/kinds.ts";
import { confOf, executorsOf, isExecutor, labelOf } from "./spark/drivers.ts";
import { microStamp, stamp } from "./storage/clock.ts";
import { at, fieldsAt, itemsAt, numberAt, parsed, textAt } from "./storage/json.ts";
import type { Item } from "./storage/metadata.ts";
import { badRequest, cause, conflict, internal, invalid, Refusal } from "./storage/refusal.ts";
import { validated } from "./verbs/admission.ts";
import { removeItem, removeOptions, rewrite } from "./verbs/remove.ts";
import { type ApiRequest, found, type Server, timeOf, tokenFor } from "./verbs/request.ts";
import { selects } from "./verbs/webhooks.ts";

const table = "poddisruptionbudgets.policy";

const isReady = (pod: Item): boolean =>
  pod.metadata.deletionTimestamp === undefined &&
  itemsAt(pod, "status", "conditions").some(
    (each) => textAt(each, "type") === "Ready" && textAt(each, "status") === "True",
  );

/** A count, or a share of all, rounded up. */
const amount = (value: unknown, all: number): number | undefined => {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(typeof value === "string" ? value : "")?.[1];
  return percent === undefined ? undefined : Math.ceil((Number(percent) * all) / 100);
};

/** The number of pods that must stay healthy, out of `all`. */
const needed = (budget: Item, all: number): number => {
  const least = amount(at(budget, "spec", "minAvailable"), all);
  return least ?? Math.max(0, all - (amount(at(budget, "spec", "maxUnavailable"), all) ?? 0));
};

const covers = (budget: Item, pod: Item): boolean =>
  budget.metadata.namespace === pod.metadata.namespace &&
  selects(fieldsAt(budget, "spec", "selector"), pod.metadata.labels ?? {});

/** Pods that have not started, have ended or are being deleted do not count as lost. */
const counts = (pod: Item): boolean => phaseOf(pod) === "Running" && pod.metadata.deletionTimestamp === undefined;

/** Throws when an eviction of this pod would go against its budget. */
const guardBudget = ({ store }: Server, pod: Item): void => {
  if (!counts(pod)) return;
  const [budget, ...others] = store.list(table).filter((each) => covers(each, pod));
  if (budget === undefined) return;
  if (others.length > 0)
    throw internal("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
  const covered = store
    .list("pods")
    .filter((each) => covers(budget, each) && phaseOf(each) !== "Succeeded" && phaseOf(each) !== "Failed");
  const healthy = covered.filter(isReady).length;
  const least = needed(budget, covered.length);
  // The eviction of an unhealthy pod does not reduce the healthy ones, so it passes while they are enough.
  if (isReady(pod) ? healthy > least : healthy >= least && least > 0) return;
  const message = `The disruption budget ${budget.metadata.name} needs ${least} healthy pods and has ${healthy} currently`;
  throw new Refusal(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: "DisruptionBudget", message }],
  });
};

type Logs = { readonly memory: Memory; readonly scriptOf: (pod: Item) => PodScript };

const success = (code: number): Result => ({
  status: code,
  text: JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code }),
});

const driverLines = (server: Server, driver: Driver, pod: Item): readonly string[] => {
  const name = confOf(driver, "spark.app.name", driver.app);
  const exit = mainExit(pod);
  return [
    "INFO SparkContext: Running Spark",
    ...(driver.booted ? [`INFO SparkContext: Submitted application: ${name}`] : []),
    ...(driver.jobSince === undefined ? [] : [`INFO DAGScheduler: Job 0 started at ${microStamp(driver.jobSince)}`]),
    ...(driver.booted ? [`INFO ExecutorPodsAllocator: ${executorsOf(server, driver).length} executors known`] : []),
    ...(exit?.code === 0 ? ["Pi is roughly 3.1415926535", "INFO SparkContext: Successfully stopped SparkContext"] : []),
    ...(exit !== undefined && exit.code !== 0 ? [`ERROR Driver ended with exit code ${exit.code}`] : []),
  ];
};

const linesOf = (server: Server, { memory, scriptOf }: Logs, pod: Item): readonly string[] => {
  const { log } = scriptOf(pod);
  if (log !== undefined) return log.replace(/\n$/, "").split("\n");
  const driver = memory.driver(pod.metadata.uid);
  if (driver !== undefined) return driverLines(server, driver, pod);
  return isExecutor(pod) ? [`INFO Executor: Starting executor ID ${labelOf(pod, "spark-exec-id")}`] : ["started"];
};

/** Adds a kubelet's timestamps: nanoseconds, one line after the other. */
const withTimes = (pod: Item, lines: readonly string[]): readonly string[] => {
  const start = Date.parse(textAt(pod, "status", "startTime") ?? pod.metadata.creationTimestamp ?? "");
  return lines.map((line, at) => `${new Date(start + at).toISOString().replace("Z", "000000Z")} ${line}`);
};

const log =
  (logs: Logs) =>
  (server: Server, { target, query }: Call): Result => {
    const pod = found(server, target);
    if (!isUp(pod) && mainExit(pod) === undefined)
      throw badRequest(
        `container "${textAt(itemsAt(pod, "spec", "containers")[0], "name") ?? ""}" in pod "${pod.metadata.name}" is waiting to start: ContainerCreating`,
      );
    const all = linesOf(server, logs, pod);
    const stamped = query.get("timestamps") === "true" ? withTimes(pod, all) : all;
    const tail = query.get("tailLines");
    const shown = tail === null ? stamped : stamped.slice(Math.max(0, stamped.length - Number(tail)));
    return { status: 200, text: shown.map((line) => `${line}\n`).join(""), type: "text/plain" };
  };

/** Calls the webhooks with the eviction. The deletion of its pod has no call of its own. */
const admitEviction = (server: Server, pod: Item, ask: ApiRequest, dryRun: boolean): void => {
  const kind = kindOfTable(server.store, "pods");
  if (kind === undefined) return;
  const { name, namespace } = pod.metadata;
  const metadata = { name, ...(namespace !== undefined && { namespace }), uid: "", resourceVersion: "" };
  const object = { ...fieldsAt(parsed(ask.body ?? "")), apiVersion: "policy/v1", kind: "Eviction", metadata };
  const options = { dryRun, manager: "", strict: "Ignore", request: ask } as const;
  validated(server, { kind, operation: "CREATE", sub: "eviction", object, old: undefined }, options);
};

const evict = (server: Server, { target, request: ask, query }: Call): Result => {
  const options = removeOptions(fieldsAt(parsed(ask.body ?? ""), "deleteOptions"), query);
  const pod = found(server, target);
  admitEviction(server, pod, ask, options.dryRun);
  guardBudget(server, pod);
  const evicted = options.dryRun
    ? pod
    : rewrite(
        server,
        "pods",
        pod,
        disrupted(pod, server.clock.now(), "EvictionByEvictionAPI", "Eviction API: evicting"),
      );
  removeItem(server, target.kind, evicted, options);
  return success(201);
};

const binding = (server: Server, { target, request: ask }: Call): Result => {
  const pod = found(server, target);
  const node = textAt(parsed(ask.body ?? ""), "target", "name") ?? "";
  const now = textAt(pod, "spec", "nodeName") ?? "";
  if (now !== "")
    throw conflict(
      { ...target.kind, plural: "pods/binding" },
      pod.metadata.name,
      `pod ${pod.metadata.name} is already assigned to node "${now}"`,
    );
  bind(server, pod, node);
  return success(201);
};

const hour = 3600;

const token = (server: Server, { target, request: ask }: Call): Result => {
  const account = found(server, target);
  const spec = fieldsAt(parsed(ask.body ?? ""), "spec");
  const expirationSeconds = numberAt(spec, "expirationSeconds") ?? hour;
  if (expirationSeconds < 600)
    throw invalid({ group: "authentication.k8s.io", plural: "", kind: "TokenRequest" }, "", [
      cause.invalid("spec.expirationSeconds", expirationSeconds, "may not specify a duration less than 10 minutes"),
    ]);
  const until = Math.floor(server.clock.now() / 1000) + expirationSeconds;
  return {
    status: 201,
    text: JSON.stringify({
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: {
        name: account.metadata.name,
        namespace: account.metadata.namespace,
        creationTimestamp: timeOf(server),
      },
      spec: {
        audiences: ["https://kubernetes.default.svc"],
        ...spec,
        expirationSeconds,
        boundObjectRef: at(spec, "boundObjectRef") ?? null,
      },
      status: { token: tokenFor(account, until), expirationTimestamp: stamp(until * 1000) },
    }),
  };
};

const unreachable = (): Refusal =>
  new Refusal(503, "ServiceUnavailable", "error trying to reach service: connect: connection refused");

/** The number of tasks that the executor works on; absent where its script has no `busyMs`. */
const tasksOf = (server: Server, pod: Item, { busyMs }: PodScript) =>
  busyMs === undefined ? {} : { activeTasks: isUp(pod) && server.clock.now() < busyUntil(pod, busyMs) ? 1 : 0 };

const executorView = (server: Server, pod: Item, script: PodScript) => ({
  id: labelOf(pod, "spark-exec-id"),
  hostPort: `${textAt(pod, "status", "podIP") ?? ""}:7079`,
  isActive: isUp(pod),
  addTime: textAt(pod, "status", "startTime"),
  totalTasks: 0,
  ...(script.shuffleBytes !== undefined && { totalShuffleWrite: script.shuffleBytes, rddBlocks: 0 }),
  ...tasksOf(server, pod, script),
  ...(mainExit(pod) !== undefined && { removeReason: `exit code ${mainExit(pod)?.code}` }),
});

const flapMs = 5_000;

/** The value of a gauge that answers, at a time in epoch ms. */
const shownBy = (gauge: Exclude<Gauge, "silent">, now: number): unknown => {
  if (typeof gauge === "number") return gauge;
  return "shows" in gauge ? gauge.shows : (Math.floor(now / flapMs) % 2) * gauge.flaps;
};

/** The driver's metrics; undefined while it answers no request for them. */
const metricsOf = (server: Server, pod: Item, driver: Driver): unknown => {
  const now = server.clock.now();
  const gauge = (driver.script.gauge ?? []).findLast(([fromMs]) => now >= busyUntil(pod, fromMs))?.[1] ?? 0;
  if (gauge === "silent") return undefined;
  const name = `${driver.appId}.driver.ExecutorAllocationManager.executors.numberMaxNeededExecutors`;
  return { version: "4.0.0", gauges: { [name]: { value: shownBy(gauge, now) } } };
};

type Routes = Readonly<Record<string, unknown>>;

/** The answers of a Connect server; undefined while it gives none. */
const routesOfServer = (server: Server, pod: Item, { tasks = [] }: PodScript): Routes | undefined => {
  const now = server.clock.now();
  const shown = isUp(pod) ? tasks.findLast(([fromMs]) => now >= busyUntil(pod, fromMs))?.[1] : undefined;
  if (shown === undefined || shown === "silent") return undefined;
  const id = `spark-${pod.metadata.uid}`;
  const executor = { id: "1", isActive: true, activeTasks: shown.running, completedTasks: shown.ended, failedTasks: 0 };
  return {
    "api/v1/applications": [{ id, name: "Spark Connect server" }],
    [`api/v1/applications/${id}/allexecutors`]: [{ id: "driver", isActive: true }, executor],
  };
};

/** The answers of a driver; undefined while it gives none. */
const routesOfDriver = (server: Server, pod: Item, { memory, scriptOf }: Logs): Routes | undefined => {
  const driver = memory.driver(pod.metadata.uid);
  if (driver === undefined || !isUp(pod) || !driver.booted || driver.ended) return undefined;
  const application = { id: driver.appId, name: confOf(driver, "spark.app.name", driver.app) };
  const own = { id: "driver", hostPort: `${textAt(pod, "status", "podIP") ?? ""}:7079`, isActive: true };
  const all = [
    own,
    ...executorsOf(server, driver)
      .filter((each) => isUp(each) || mainExit(each) !== undefined)
      .map((each) => executorView(server, each, scriptOf(each))),
  ];
  return {
    "api/v1/applications": [application],
    [`api/v1/applications/${driver.appId}`]: application,
    [`api/v1/applications/${driver.appId}/executors`]: all.filter(({ isActive }) => isActive),
    [`api/v1/applications/${driver.appId}/allexecutors`]: all,
    "metrics/json": metricsOf(server, pod, driver),
  };
};

/** The REST API of a driver or of a Connect server, as the API server passes it on. */
const proxy =
  (logs: Logs) =>
  (server: Server, { target }: Call): Result => {
    const [name = ""] = (target.name ?? "").split(":");
    const pod = found(server, { ...target, name });
    const routes = routesOfDriver(server, pod, logs) ?? routesOfServer(server, pod, logs.scriptOf(pod));
    if (routes === undefined) throw unreachable();
    const body = routes[target.rest];
    return body === undefined
      ? { status: 404, text: "not found", type: "text/html" }
      : { status: 200, text: JSON.stringify(body) };
  };

/** Subresources of pods and service accounts that act rather than store: log, eviction, binding, proxy, token. */
export const sides = (logs: Logs): Subresources => ({
  "pods/log": log(logs),
  "pods/eviction": evict,
  "pods/binding": binding,
  "pods/proxy": proxy(logs),
  "serviceaccounts/token": token,
});
