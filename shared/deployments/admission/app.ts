/**
 * The HTTP server of the admission webhooks: two paths with pure answers. Only quotas, queues and the objects that
 * Volcano's rules need are read from the cluster; a failed read refuses nothing and adds a warning.
 */

import { Hono } from "hono";
import { BudgetError } from "../../core/http.ts";
import { isRecord, jsonOf, opensMoreThan } from "../../core/json.ts";
import { errorText } from "../../core/text.ts";
import type { Slices } from "../../engine/ports.ts";
import { openDecisionQueue } from "../../engine/quarantine.ts";
import {
  type AdmissionRequest,
  type AdmittedObject,
  answerTo,
  noPodRules,
  type PodRules,
  pass,
  podPatch,
  readReview,
  type Verdict,
} from "../../kube/admission.ts";
import type { Labels, Selects } from "../../kube/selector.ts";
import { familyOf } from "../../registry/names.ts";
import type { NamespaceRoom } from "../../spark/admission/quota.ts";
import type { RelatedObjects } from "../../volcano/admission/review.ts";
import type { NamespaceScope } from "../common/namespaces.ts";
import { limitBody } from "../http/request-body.ts";

/** The rules of a family, loaded with its first request: many clusters have one family alone. */
const volcanoRules = () => import("../../volcano/admission/review.ts");
const sparkRules = () => import("../../spark/admission/review.ts");

/** True for Volcano's kinds; Pod, whose rules Volcano has, too, is none of them. */
const isVolcanos = ({ kind }: AdmissionRequest): boolean => familyOf(kind.group) === "volcano";

export type ReviewReads = {
  /**
   * Lists all queues; a listing of the last second may be reused where `fresh` is false. Throws where they cannot be
   * read.
   */
  queues(fresh: boolean): Promise<readonly AdmittedObject[]>;
  /** Reads the annotations of a namespace. Throws where they cannot be read. */
  annotations(namespace: string): Promise<Readonly<Record<string, string>>>;
};

/** Runs a judgement of a request when its turn comes, and stops it when it takes too long. */
type Judging = (request: AdmissionRequest, work: () => Verdict) => Promise<Verdict>;

const unreadText = (what: string, cause: unknown): string => `${what} could not be read: ${errorText(cause)}`;

/** Adds the warning of a read that failed to a verdict; a refusal stays as it is. */
const unread = (verdict: Verdict, what: string, cause: unknown): Verdict =>
  verdict.allowed ? { ...verdict, warnings: [...verdict.warnings, unreadText(what, cause)] } : verdict;

/**
 * Judges a request, with the queues if its rules need them. A Queue, and a request that a reused listing refuses, is
 * judged on a fresh listing: a queue is often created right before its jobs.
 */
const volcanoJudged = async (request: AdmissionRequest, judging: Judging, around?: ReviewReads): Promise<Verdict> => {
  const { judgedBy, needsQueues } = await volcanoRules();
  const judged = (seen?: RelatedObjects): Promise<Verdict> => judging(request, () => judgedBy(request, seen));
  const own = await judged();
  if (around === undefined || !needsQueues(request)) return own;
  if (!own.allowed && request.kind.kind !== "Job") return own;
  try {
    const verdict = await judged({ queues: await around.queues(false) });
    return verdict.allowed && request.kind.kind !== "Queue"
      ? verdict
      : await judged({ queues: await around.queues(true) });
  } catch (cause) {
    return unread(own, "queues", cause);
  }
};

const volcanoPatched = async (request: AdmissionRequest, judging: Judging, around?: ReviewReads): Promise<Verdict> => {
  const { patchedBy, needsNamespace } = await volcanoRules();
  const patched = (seen?: RelatedObjects): Promise<Verdict> => judging(request, () => patchedBy(request, seen));
  if (around === undefined || !needsNamespace(request)) return await patched();
  try {
    return await patched({ annotations: await around.annotations(request.namespace ?? "default") });
  } catch (cause) {
    return unread(await patched(), "the annotations of its namespace", cause);
  }
};

/** The largest body: the API server's size limit of an object, for the old and the new one. */
export const largest = 8 * 1024 * 1024;

/** The most arrays and objects in a review: the parser blocks all other work for some microseconds with each. */
const mostParts = 100_000;

/** Reads the quotas of a namespace, with what the API server adds to pods there. Throws where the quotas cannot be read. */
export type Quotas = (namespace: string) => Promise<NamespaceRoom>;

/** Checks the quotas after the rules. A failed read allows the request with a warning. */
const counted = async (
  request: AdmissionRequest,
  judging: Judging,
  { quotas, confs = {}, estimate }: Pick<Admits, "quotas" | "confs" | "estimate">,
): Promise<Verdict> => {
  const { isCounted, judgedBy, withinQuotas } = await sparkRules();
  const verdict = await judging(request, () => judgedBy(request, confs));
  if (quotas === undefined || !verdict.allowed || !isCounted(request)) return verdict;
  try {
    const found = await quotas(request.namespace ?? "default");
    return await judging(request, () => withinQuotas(found, request, { verdict, confs, estimate }));
  } catch (cause) {
    return unread(verdict, "the quotas of its namespace", cause);
  }
};

export type Admits = {
  /** Runs the judgements, and stops those that take too long; absent: each runs at once, without a limit. */
  readonly slices?: Slices | undefined;
  /** Reads queues and namespaces for Volcano's kinds; absent: checks that need them pass. */
  readonly around?: ReviewReads | undefined;
  /** Reads quotas for requests that are otherwise allowed; absent: no quota is enforced. */
  readonly quotas?: Quotas | undefined;
  /** Quotas count upstream's estimate in place of the planned pods. */
  readonly estimate?: boolean | undefined;
  /** The label selector of the deployment's scope; absent: all objects. Objects outside it are allowed. */
  readonly selects?: Selects | undefined;
  /** The namespaces in scope; absent: all. While they cannot be read, a request is allowed with a warning. */
  readonly within?: NamespaceScope["within"] | undefined;
  /** Confs of the deployment below those of each application; absent: none. */
  readonly confs?: Readonly<Record<string, string>> | undefined;
  /** Rules that patch pods with an annotation or in a resource group; absent: no pod is patched. */
  readonly pods?: PodRules | undefined;
};

const labelsOf = ({ object, oldObject }: AdmissionRequest): Labels => {
  const labels = (object ?? oldObject)?.metadata["labels"];
  const pairs = isRecord(labels) ? Object.entries(labels) : [];
  return Object.fromEntries(pairs.map(([name, value]) => [name, String(value)]));
};

/** The time limit of one judgement, ms; the API server waits 3 s. */
const judgementMs = 750;

const tooLong =
  "checking this object takes too long: make its spec smaller, with fewer or shorter confs, variables, arguments, volumes, policies, tasks or replicas";

/** The time that judgements run before the event loop is served, ms. */
const sliceMs = 5;

/** Returns the verdict over a request whose judgement was stopped. */
const stoppedBy = ({ why }: BudgetError): Verdict =>
  why === "starved"
    ? { ...pass, warnings: ["it was not checked, because the machine was busy"] }
    : { allowed: false, message: tooLong };

/** Opens the queue of judgements, in which namespaces take turns. */
const openJudging = (slices: Slices | undefined): Judging => {
  if (slices === undefined) return async (_, work) => work();
  const queue = openDecisionQueue({ slices, sliceMs, clock: () => performance.now() });
  return ({ namespace = "" }, work) =>
    new Promise((resolve, reject) => {
      queue.add({
        namespace,
        budgetMs: () => judgementMs,
        run: () => {
          try {
            resolve(work());
          } catch (cause) {
            reject(cause);
          }
        },
        stopped: (cause) => {
          if (cause instanceof BudgetError) resolve(stoppedBy(cause));
          else reject(cause);
        },
      });
    });
};

const everywhere: NamespaceScope["within"] = async () => () => true;

/** True in scope; else the verdict outside it, which warns where the namespaces in scope could not be read. */
const inScope = async ({ namespace = "default" }: AdmissionRequest, { within = everywhere }: Admits) => {
  try {
    return (await within())(namespace) || pass;
  } catch (cause) {
    return { ...pass, warnings: [unreadText("it was not checked: the namespaces in scope", cause)] };
  }
};

/** The same for the whole scope. Pods are selected by a label or an annotation; queues have no namespace. */
const scopeOf = async (request: AdmissionRequest, admits: Admits): Promise<true | Verdict> => {
  const { selects = () => true } = admits;
  if (request.kind.kind === "Pod") return true;
  if (!selects(labelsOf(request))) return pass;
  return request.kind.kind === "Queue" || (await inScope(request, admits));
};

const patched = async (request: AdmissionRequest, judging: Judging, admits: Admits): Promise<Verdict> => {
  if (isVolcanos(request)) return volcanoPatched(request, judging, admits.around);
  const { patchedBy } = await sparkRules();
  const verdict = await judging(request, () => patchedBy(request, admits.confs));
  const more = podPatch(request, admits.pods ?? noPodRules);
  if (!verdict.allowed || more.length === 0) return verdict;
  const scope = await inScope(request, admits);
  return scope === true
    ? { ...verdict, patch: [...verdict.patch, ...more] }
    : { ...verdict, warnings: [...verdict.warnings, ...scope.warnings] };
};

export const admissionApp = (admits: Admits = {}): Hono => {
  const { around } = admits;
  const judging = openJudging(admits.slices);
  const app = new Hono();
  const review = (path: string, judge: (request: AdmissionRequest) => Verdict | Promise<Verdict>): void => {
    app.post(path, async (c) => {
      const text = await c.req.text();
      if (opensMoreThan(text, mostParts))
        return c.json({ error: `more than ${mostParts} arrays and objects: make the object smaller` }, 413);
      const request = readReview(jsonOf(text));
      if (request === undefined) return c.json({ error: "an AdmissionReview of admission.k8s.io/v1 is needed" }, 400);
      const scope = await scopeOf(request, admits);
      return c.json(answerTo(request, scope === true ? await judge(request) : scope));
    });
  };
  app.use(limitBody(largest));
  app.get("/healthz", (c) => c.text("ok"));
  review("/mutate", (request) => patched(request, judging, admits));
  review("/validate", async (request) => {
    if (isVolcanos(request) || request.kind.kind === "Pod") return volcanoJudged(request, judging, around);
    return counted(request, judging, admits);
  });
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((_, c) => c.json({ error: "internal error: see the log of this process" }, 500));
  return app;
};
