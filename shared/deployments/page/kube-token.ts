/**
 * Sign-in to the page with a bearer token of Kubernetes: a TokenReview says who the user is, and SubjectAccessReviews
 * say what it may read and change, first everywhere, then in one namespace after the other. The answers hold for five
 * minutes; the requests of one sign-in are bounded and counted, and those of many sign-ins at once as well.
 */
import { createHash } from "node:crypto";
import type { Context } from "hono";
import * as z from "zod";
import { request } from "../../adapters/kubernetes/requests.ts";
import { openRate } from "../../api/callers.ts";
import type { Grant } from "../../api/groups.ts";
import { forgetOldest } from "../../core/cache.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import { jsonOf } from "../../core/json.ts";
import type { Resource } from "../../core/object.ts";
import type { Report } from "../../engine/ports.ts";
import { everyKind } from "../../inspection/kinds/all.ts";
import type { Family } from "../../kube/resources.ts";
import { runs } from "../../registry/names.ts";
import { originOf, strangersPerMinute, wait } from "../common/authentication.ts";
import { type KubernetesSignIn, rightsBy } from "./access.ts";

type Parts = {
  readonly transport: Transport;
  readonly families: readonly Family[];
  /** Returns the namespaces with something to see. */
  readonly namespaces: () => Promise<readonly string[]>;
  /** Epoch ms. */
  readonly now: () => number;
};

export type KubeUser = {
  readonly name: string;
  readonly grants: readonly Grant[];
  /** The longest session of this user, ms. */
  readonly ms: number;
  /** Requests to the API server; 0: the answers of less than five minutes ago. */
  readonly requests: number;
};

/** `status`: of the answer that refuses the token. */
type Refused = { readonly status: 401 | 403 | 503; readonly refused: string };

export type Review = (token: string) => Promise<KubeUser | Refused>;

/** The first part of the name of a user whom the API server has named; no caller has it. */
const ofKubernetes = "kube:";

const keepMs = 300_000;
/** Tokens are not kept: the session ends with the token, and after this time at the latest, ms. */
const sessionMs = 3_600_000;
const mostKept = 1_000;
/** The most requests of one sign-in, and the most that are under way for all of them. */
const mostRequests = 256;
const mostSignIns = 8;
/** Reviews of one namespace that are under way at once: a refused one makes the others needless. */
const atOnce = 4;
const longestToken = 8_192;

const user = z.looseObject({
  username: z.string().min(1),
  uid: z.string().optional(),
  groups: z.array(z.string()).optional(),
  extra: z.record(z.string(), z.array(z.string())).optional(),
});

type User = z.infer<typeof user>;

const identity = z.looseObject({
  status: z.looseObject({ authenticated: z.boolean().optional(), user: z.unknown() }),
});
const access = z.looseObject({ status: z.looseObject({ allowed: z.boolean() }) });

type Right = {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly subresource?: string;
};

/** The kinds of these families that the page shows. */
const kindsOf = (families: readonly Family[]): readonly Resource[] =>
  everyKind.map(({ resource }) => resource).filter((resource) => runs(families)({ resource }));

/** The rights of a user who sees here what the page shows of a namespace: objects, pods and logs. */
const readingOf = (families: readonly Family[]): readonly Right[] => [
  ...kindsOf(families).map(({ group, plural: resource }) => ({ group, resource, verb: "list" })),
  { group: "", resource: "pods", verb: "list" },
  { group: "", resource: "pods", verb: "get", subresource: "log" },
];

/** The rights by which a user does itself what actions do. */
const actingOf = (families: readonly Family[]): readonly Right[] => [
  ...kindsOf(families).flatMap(({ group, plural: resource }) =>
    ["patch", "delete"].map((verb) => ({ group, resource, verb })),
  ),
  ...(families.includes("volcano") ? [{ group: "bus.volcano.sh", resource: "commands", verb: "create" }] : []),
];

class TooMany extends Error {}

/** Opens the requests of one sign-in. Throws where there would be too many. */
const openRequests = (transport: Transport) => {
  let count = 0;
  return {
    count: () => count,
    post: async (path: string, object: object): Promise<unknown> => {
      if (count >= mostRequests) throw new TooMany();
      count += 1;
      return await request(transport, "POST", path, object);
    },
  };
};

type Requests = ReturnType<typeof openRequests>;

const userOf = async ({ post }: Requests, token: string): Promise<User | undefined> => {
  const apiVersion = "authentication.k8s.io/v1";
  const answer = await post(`/apis/${apiVersion}/tokenreviews`, { apiVersion, kind: "TokenReview", spec: { token } });
  const { status } = identity.parse(answer);
  return status.authenticated === true ? user.parse(status.user) : undefined;
};

const isAllowed = async (
  { post }: Requests,
  { username, uid, groups, extra }: User,
  right: Right,
  namespace: string,
) => {
  const apiVersion = "authorization.k8s.io/v1";
  const spec = { user: username, uid, groups, extra, resourceAttributes: { ...right, namespace } };
  const kind = "SubjectAccessReview";
  return access.parse(await post(`/apis/${apiVersion}/subjectaccessreviews`, { apiVersion, kind, spec })).status
    .allowed;
};

/** Returns whether the user has all of these rights in a namespace ("": in all). The first one that is missing ends it. */
const hasAll = async (requests: Requests, who: User, rights: readonly Right[], namespace: string): Promise<boolean> => {
  const [first, ...others] = rights;
  if (first === undefined || !(await isAllowed(requests, who, first, namespace))) return false;
  for (let at = 0; at < others.length; at += atOnce) {
    const some = others.slice(at, at + atOnce).map((right) => isAllowed(requests, who, right, namespace));
    if ((await Promise.all(some)).includes(false)) return false;
  }
  return true;
};

const changing = ["act", "trigger"] as const;

const grantsOf = async (requests: Requests, who: User, { families, namespaces }: Parts): Promise<readonly Grant[]> => {
  const [reading, acting] = [readingOf(families), actingOf(families)];
  const readsAll = await hasAll(requests, who, reading, "");
  const actsOnAll = readsAll && (await hasAll(requests, who, acting, ""));
  if (actsOnAll) return ["read" as const, ...changing].map((ability) => ({ ability, namespaces: [] }));
  const [read, act]: [string[], string[]] = [[], []];
  for (const place of await namespaces()) {
    const isRead = readsAll || (await hasAll(requests, who, reading, place));
    if (isRead) read.push(place);
    if (isRead && (await hasAll(requests, who, acting, place))) act.push(place);
  }
  return [
    ...(readsAll || read.length > 0 ? [{ ability: "read" as const, namespaces: readsAll ? [] : read }] : []),
    ...(act.length > 0 ? changing.map((ability) => ({ ability, namespaces: act })) : []),
  ];
};

const expiry = z.looseObject({ exp: z.number() });

/** The time until a token ends, as it says of itself, ms. The API server has checked it. */
const leftOf = (token: string, now: number): number => {
  const [, payload = ""] = token.split(".");
  const { data } = expiry.safeParse(jsonOf(Buffer.from(payload, "base64url").toString("utf8")));
  return data === undefined ? sessionMs : Math.max(0, data.exp * 1_000 - now);
};

const refusalOf = (cause: unknown): Refused => {
  if (cause instanceof TooMany)
    return {
      status: 403,
      refused: `your rights would take more than ${mostRequests} requests to the API server: grant them in all namespaces, or sign in by an identity provider`,
    };
  const isForbidden = cause instanceof ApiError && cause.status === 403;
  const advice = isForbidden ? "; rekindle manifests --features kube-sign-in grants the rights that this needs" : "";
  return { status: 503, refused: `the API server does not review the token: ${String(cause)}${advice}` };
};

/** Opens the reviews. Two sign-ins with one token are one. */
export const openReviews = (parts: Parts): Review => {
  const { transport, now } = parts;
  const kept = new Map<string, { readonly at: number; readonly made: Promise<KubeUser | Refused> }>();
  let underWay = 0;
  const made = async (token: string): Promise<KubeUser | Refused> => {
    const requests = openRequests(transport);
    try {
      const who = await userOf(requests, token);
      if (who === undefined) return { status: 401, refused: "the API server does not accept this token" };
      const grants = await grantsOf(requests, who, parts);
      const ms = Math.min(sessionMs, leftOf(token, now()));
      return { name: `${ofKubernetes}${who.username}`.slice(0, 256), grants, ms, requests: requests.count() };
    } catch (cause) {
      return refusalOf(cause);
    }
  };
  return async (token) => {
    if (token.length > longestToken) return { status: 401, refused: `a token has at most ${longestToken} characters` };
    const id = createHash("sha256").update(token).digest("base64url");
    const known = kept.get(id);
    if (known !== undefined && now() - known.at < keepMs) {
      const found = await known.made;
      return "refused" in found ? found : { ...found, ms: Math.min(found.ms, leftOf(token, now())), requests: 0 };
    }
    if (underWay >= mostSignIns) return { status: 503, refused: "too many people sign in at this moment" };
    underWay += 1;
    const one = { at: now(), made: made(token) };
    kept.delete(id);
    kept.set(id, one);
    forgetOldest(kept, mostKept);
    const found = await one.made.finally(() => {
      underWay -= 1;
    });
    // A refusal by the API server's trouble is not kept.
    if ("refused" in found && found.status === 503) kept.delete(id);
    return found;
  };
};

/** Opens sign-in by tokens of Kubernetes. */
export const openKubeWay = ({
  report,
  ...parts
}: Omit<Parts, "now"> & { readonly report: Report }): KubernetesSignIn => {
  const review = openReviews({ ...parts, now: Date.now });
  const rate = openRate(() => performance.now());
  return async (c: Context) => {
    const seconds = rate(originOf(c.env).address, strangersPerMinute);
    if (seconds > 0) return wait(c, seconds);
    const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(c.req.header("authorization") ?? "") ?? [];
    if (token === undefined) return c.json({ error: "a token is needed" }, 401);
    const found = await review(token);
    if ("refused" in found) {
      report("warn", "a sign-in with a token of Kubernetes is refused", { error: found.refused });
      return c.json({ error: found.refused }, found.status);
    }
    const { name: user, grants, ms, requests } = found;
    const rights = rightsBy(user, grants);
    if (rights === undefined) {
      report("info", "a user may read nothing that the page shows", { user, requests });
      return c.json({ error: `${user} may not list applications, pods and logs in any namespace that has some` }, 403);
    }
    report("info", "a user has signed in", { user, namespaces: rights.namespaces.length, requests });
    return { rights, ms };
  };
};
