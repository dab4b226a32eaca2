/** The API server's own account of who asked it for what: flags that make it keep one, and how it is read. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

/** One request as the API server finished it. */
export type Request = {
  /** Of the namespace that is looked at. */
  readonly account: string;
  readonly verb: string;
  readonly group: string;
  /** `pods`, `checkpoints`, `sparkapplications/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly code: number;
  /** What the authorizer said, and by which binding. */
  readonly allowed: boolean;
  readonly reason: string;
  readonly agent: string;
  /** Epoch ms of its arrival, to the microsecond. */
  readonly at: number;
};

const writes = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** A question to the authorizer is asked by a creation that creates nothing. */
export const isWrite = ({ verb, group }: Request): boolean => writes.has(verb) && group !== "authorization.k8s.io";

const policyFor = (namespace: string): object => ({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted"],
  rules: [{ level: "Metadata", userGroups: [`system:serviceaccounts:${namespace}`] }, { level: "None" }],
});

export type Audit = {
  /** For `startCluster({ extra })`. */
  readonly flags: Readonly<Record<string, readonly string[]>>;
  /** Everything finished so far, in its order. */
  read(): Promise<readonly Request[]>;
};

/** Flags of both, part by part. */
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

/** Keeps the account of the service accounts of a namespace in `dir`; reads all of it, or what one of them did. */
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

/** How often which verb asked for which resource, most first. */
export const tableOf = (requests: readonly Request[]): readonly (readonly [what: string, count: number])[] => {
  const counts = new Map<string, number>();
  for (const { verb, resource } of requests) {
    const what = `${verb} ${resource}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
};
