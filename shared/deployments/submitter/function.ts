/**
 * The HTTP server of the RestSubmitter contract: it makes the submissions of a kubeflow operator without a JVM. It
 * creates the driver pod and the objects beside it; the operator follows the run. A repeated submission is made once.
 */
import { isIP } from "node:net";
import { type Context, Hono } from "hono";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { openLines, type Telemetry } from "../../adapters/telemetry/tracing.ts";
import { ApiError } from "../../core/http.ts";
import { begun, traceForm } from "../../core/key.ts";
import { refTo, type Stored } from "../../core/object.ts";
import type { Cluster } from "../../engine/ports.ts";
import { ownedBy } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import { made } from "../../spark/schema/resource.ts";
import {
  type Code,
  codes,
  type Fault,
  idLabel,
  readHanded,
  type Submission,
  submissionOf,
} from "../../spark/submission/rest-submission.ts";
import { openAccess } from "../common/cluster-access.ts";
import { addressOf } from "../http/address.ts";
import { limitBody } from "../http/request-body.ts";

import { type Environment, type Settings, settingsFor } from "../settings/read.ts";

export type Submitter = {
  readonly cluster: Cluster;
  readonly sparkVersion: string;
  readonly now: () => number;
  /** Submissions at once; a further one is answered SUBMITTER_OVERLOADED. */
  readonly atOnce: number;
  /** Traces a submission through its requests to the API server; absent: no trace. */
  readonly telemetry?: Telemetry;
};

const path = "/api/v1/spark-submit";
/** The longest body of a submission, bytes. */
export const largest = 3 * 1024 * 1024;

class Refusal extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

/**
 * Maps an error of the API server to the contract's code: 422 is the template's fault, a transient error is the
 * submitter's.
 */
const codeOf = ({ status }: ApiError): Code => {
  if (status === 422) return "INVALID_POD_TEMPLATE";
  return status === 0 || status === 429 || status === 503 || status === 504
    ? "SUBMITTER_OVERLOADED"
    : "INTERNAL_SERVER_ERROR";
};

const isTaken = (cause: unknown): boolean => cause instanceof ApiError && cause.reason === "AlreadyExists";

/**
 * Returns the existing driver pod of this submission; undefined: none. Throws a refusal where the pod belongs to
 * another submission.
 */
const existingPod = async (cluster: Cluster, { driver, id }: Submission): Promise<Stored | undefined> => {
  const { value } = await cluster.get(refTo(pods, driver));
  if (value === undefined || value.metadata.labels?.[idLabel] === id) return value;
  const message = `pod ${driver.metadata.namespace}/${driver.metadata.name} exists and belongs to another submission`;
  throw new Refusal({ code: "DRIVER_POD_ALREADY_EXISTS", message, id });
};

/** Creates the driver pod, or adopts the one of an earlier try. `duplicate`: it existed before. */
const driverOf = async (
  cluster: Cluster,
  submission: Submission,
): Promise<{ readonly pod: Stored; readonly duplicate: boolean }> => {
  const before = await existingPod(cluster, submission);
  if (before !== undefined) return { pod: before, duplicate: true };
  try {
    return { pod: await cluster.create(refTo(pods, submission.driver), submission.driver), duplicate: false };
  } catch (cause) {
    const pod = isTaken(cause) ? await existingPod(cluster, submission) : undefined;
    if (pod === undefined) throw cause;
    return { pod, duplicate: true };
  }
};

/** Creates the objects beside the driver pod, also those that a killed earlier try has not created. */
const complete = async (cluster: Cluster, submission: Submission, pod: Stored): Promise<void> => {
  for (const object of submission.others(pod)) {
    const resource = made.find(({ kind }) => kind === object.kind);
    if (resource === undefined) continue;
    const ref = refTo(resource, object);
    try {
      await cluster.create(ref, object);
    } catch (cause) {
      if (!isTaken(cause)) throw cause;
      const { value } = await cluster.get(ref);
      if (value === undefined || !ownedBy(value, pod.metadata.uid)) throw cause;
    }
  }
};

/** Returns the trace of the request, or one that is derived from the submission's id, so that a repeat has the same. */
const traceOf = (given: string | undefined, { id }: Submission): string =>
  given !== undefined && traceForm.test(given) ? given : begun(id);

const answered = async (c: Context, body: unknown, submitter: Submitter): Promise<Response> => {
  const { sparkVersion, now, telemetry } = submitter;
  const handed = readHanded(body);
  if ("code" in handed) throw new Refusal(handed);
  const submission = submissionOf(handed, { now: now(), sparkVersion });
  if ("code" in submission) throw new Refusal(submission);
  const strange = submission.kinds.find((kind) => !made.some((resource) => resource.kind === kind));
  if (strange !== undefined) {
    const message = `it needs a ${strange}, which Rekindle cannot create`;
    throw new Refusal({ code: "INVALID_SPARK_SUBMIT_ARGS", message, id: submission.id });
  }
  const parent = traceOf(c.req.header("traceparent"), submission);
  const work = (): Promise<Response> => submitted(c, submitter, submission);
  return await (telemetry === undefined
    ? work()
    : telemetry.part("submit", work, { parent, of: { id: submission.id } }));
};

const submitted = async (c: Context, submitter: Submitter, submission: Submission): Promise<Response> => {
  const { cluster, now, telemetry } = submitter;
  const { id, namespace } = submission;
  try {
    const { pod, duplicate } = await driverOf(cluster, submission);
    await complete(cluster, submission, pod);
    const { name, uid, labels, creationTimestamp } = pod.metadata;
    telemetry?.report("info", "submitted", { id, namespace, pod: name, duplicate });
    const message = duplicate ? "the driver pod of this submission exists already" : "the driver pod was created";
    const identity = { submission_id: submission.id, app_name: submission.appName, namespace: submission.namespace };
    const driver = { driver_pod_name: name, driver_pod_uid: uid, spark_app_id: labels?.["spark-app-selector"] ?? "" };
    const when = { submitted_at: creationTimestamp ?? new Date(now()).toISOString() };
    return c.json({ ...identity, ...driver, ...when, message, duplicate_submission: duplicate }, duplicate ? 200 : 201);
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    telemetry?.report("warn", "a submission failed", { id, namespace, error: cause.message });
    throw new Refusal({ code: codeOf(cause), message: cause.message, id });
  }
};

const faultResponse = (c: Context, { code, message, id = "" }: Fault, now: () => number): Response => {
  const status = codes[code];
  const timestamp = new Date(now()).toISOString();
  return c.json({ submission_id: id, status, error_code: code, message, timestamp }, status);
};

/** Builds the hono app, the same for a process and a function URL. */
export const submitterApp = (submitter: Submitter): Hono => {
  const app = new Hono();
  const { now, atOnce } = submitter;
  let busy = 0;
  const checkLoad = (): void => {
    if (busy < atOnce) return;
    throw new Refusal({ code: "SUBMITTER_OVERLOADED", message: `${busy} submissions are under way: try again` });
  };
  const tooLarge = (c: Context): Response => faultResponse(c, { code: "BAD_REQUEST", message: "body too large" }, now);
  app.get("/healthz", (c) => c.text("ok"));
  app.use(path, limitBody(largest, tooLarge));
  app.post(path, async (c) => {
    if (!/^application\/json(;|$)/i.test(c.req.header("content-type") ?? ""))
      throw new Refusal({ code: "UNSUPPORTED_MEDIA_TYPE", message: "content-type application/json is needed" });
    checkLoad();
    const body: unknown = await c.req.json().catch(() => undefined);
    // Others may have begun meanwhile: a submission is under way once its body is here.
    checkLoad();
    busy += 1;
    try {
      return await answered(c, body, submitter);
    } finally {
      busy -= 1;
    }
  });
  app.all(path, (c) => faultResponse(c, { code: "METHOD_NOT_ALLOWED", message: `POST ${path}` }, now));
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((cause, c) =>
    faultResponse(
      c,
      cause instanceof Refusal ? cause.fault : { code: "INTERNAL_SERVER_ERROR", message: "internal" },
      now,
    ),
  );
  return app;
};

/** Opens the submitter from a function's environment. */
export const openSubmitter = (env: Environment): Submitter => {
  const settings = settingsFor("submitter", env);
  const { sparkVersion } = settings;
  const telemetry = openLines(settings);
  const transport = telemetry.transport(openAccess(settings.clusterRecord, { userAgent: "rekindle-submitter" }));
  return { cluster: openCluster(transport), sparkVersion, now: Date.now, atOnce: 64, telemetry };
};

const isLoopback = (listen: string): boolean => {
  const { hostname } = addressOf(listen);
  return hostname === "localhost" || hostname === "::1" || (isIP(hostname) === 4 && hostname.startsWith("127."));
};

/**
 * Checks the address. Every client of the submitter may run pods, so beyond loopback it needs client certificates, as
 * upstream's submitter does.
 */
export const mayListen = ({
  listen,
  tlsClientCaFile,
}: Pick<Settings<"submitter">, "listen" | "tlsClientCaFile">): void => {
  if (tlsClientCaFile === undefined && !isLoopback(listen))
    throw new Error(`other machines can reach ${listen}: set REKINDLE_TLS_CLIENT_CA_FILE, or listen on 127.0.0.1`);
};
