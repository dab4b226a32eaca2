/** The API server's audit log: the flags that enable it, and its reader. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

/** One request that the API server has finished. */
export type Request = {
  /** The service account, without its namespace. */
  readonly account: string;
  readonly verb: string;
  readonly group: string;
  /** `pods`, `checkpoints`, `sparkapplications/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly code: number;
  /** The decision of the authorizer, and its reason, which names the binding. */
  readonly allowed: boolean;
  readonly reason: string;
  readonly agent: string;
  /** Arrival in epoch ms, with a precision of microseconds. */
  readonly at: number;
};

const writes = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** Access reviews are creations that store nothing, so they do not count. */
export const isWrite = ({ verb, group }: Request): boolean => writes.has(verb) && group !== "authorization.k8s.io";

const policyFor = (namespace: string): object => ({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted"],
  rules: [{ level: "Metadata", userGroups: [`system:serviceaccounts:${namespace}`] }, { level: "None" }],
});

export type Audit = {
  /** Flags for `startCluster({ extra })`. */
  readonly flags: Readonly<Record<string, readonly string[]>>;
  /** Returns all finished requests so far, in order. */
  read(): Promise<readonly Request[]>;
};

/** Merges the flags of both, part by part. */
export const withFlags = (
  some: Audit["flags"] | undefined = {},
  more: Audit["flags"],
): Readonly<Record<string, readonly string[]>> => ({
  ...some,
  ...Object.fromEntries(Object.entries(more).map(([part, flags]) => [part, [...(some[part] ?? []), ...flags]])),
});

const annotation = (name: string) => `authorization.k8s.io/${name}`;

const line = z.object({
  verb: z.string(),
  user: z.object({ username: z.string() }),
  annotations: z.record(z.string(), z.string()).default({}),
  userAgent: z.string().default(""),
  requestReceivedTimestamp: z.string(),
  objectRef: z
    .object({
      apiGroup: z.string().default(""),
      resource: z.string().default(""),
      subresource: z.string().optional(),
      namespace: z.string().default(""),
      name: z.string().default(""),
    })
    .default({ apiGroup: "", resource: "", namespace: "", name: "" }),
  responseStatus: z.object({ code: z.number().default(0) }).default({ code: 0 }),
});

const requestOf = (text: string): Request => {
  const found = line.parse(JSON.parse(text));
  const { verb, user, annotations, userAgent, requestReceivedTimestamp, objectRef, responseStatus } = found;
  const { apiGroup: group, resource, subresource, namespace, name } = objectRef;
  return {
    ...{ verb, group, namespace, name },
    account: user.username.split(":").at(-1) ?? "",
    allowed: annotations[annotation("decision")] === "allow",
    reason: annotations[annotation("reason")] ?? "",
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    code: responseStatus.code,
    agent: userAgent,
    at:
      Date.parse(requestReceivedTimestamp) + Number(/\.\d{3}(\d{3})/.exec(requestReceivedTimestamp)?.[1] ?? 0) / 1_000,
  };
};

/**
 * Enables an audit log in `dir` of the service accounts of a namespace; `read` returns all of it, or the requests of
 * `serviceAccount`.
 */
export const openAudit = async (dir: string, namespace: string, serviceAccount?: string): Promise<Audit> => {
  await mkdir(dir, { recursive: true });
  const policy = join(dir, "audit-policy.json");
  const log = join(dir, "audit.jsonl");
  await writeFile(policy, JSON.stringify(policyFor(namespace)));
  return {
    flags: {
      "kube-apiserver": [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, "--audit-log-maxsize=1000"],
    },
    read: async () => {
      const text = await readFile(log, "utf8").catch(() => "");
      return text
        .slice(0, text.lastIndexOf("\n") + 1)
        .split("\n")
        .filter((one) => one !== "")
        .map(requestOf)
        .filter(({ account }) => serviceAccount === undefined || account === serviceAccount);
    },
  };
};

/** Counts the requests by verb and resource, most frequent first. */
export const tableOf = (requests: readonly Request[]): readonly (readonly [what: string, count: number])[] => {
  const counts = new Map<string, number>();
  for (const { verb, resource } of requests) {
    const what = `${verb} ${resource}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
};
