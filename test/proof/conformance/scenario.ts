/** A scenario sends one request after another to an API server; its transcript is compared between two servers. */

export type Said = { readonly status: number; readonly body: unknown; readonly warning: string | undefined };

export type Api = {
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Said>;
  /** Returns the first `count` lines of a watch, or fewer if the watch falls silent before. */
  watch(path: string, count: number): Promise<readonly unknown[]>;
  /** Gives controllers time. */
  settle(): Promise<void>;
  /** The address at which this server finds admission webhooks. */
  readonly hooks: { readonly url: string; readonly caBundle: string };
};

/** The tools of a scenario: requests, and the recording of their answers in order. */
export type Tell = {
  /** Sends a request and records the answer. */
  ask(
    name: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Said>;
  watch(name: string, path: string, count: number): Promise<readonly unknown[]>;
  /** Records a fact that follows from answers. */
  note(name: string, fact: unknown): void;
  /** Sends requests without recording. */
  readonly api: Api;
  /** A namespace of the scenario's own. */
  readonly ns: string;
};

export type Scenario = { readonly name: string; readonly run: (tell: Tell) => Promise<void> };

export type Line = { readonly name: string; readonly said: unknown };

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** Two of the cluster's own bindings allow the same paths; the real server names either of them first. */
const viewer = /system:public-info-viewer/g;

/** Sorts the rules that an authorizer could not resolve: the real server lists them in the order of a Go map. */
const sortedRules = (list: string): string => `RBAC: [${list.split(", ").sort().join(", ")}]`;

const normalText = (text: string): string =>
  text
    .replace(/RBAC: \[([^\]]*)\]/g, (_, list: string) => sortedRules(list))
    .replace(viewer, "system:discovery")
    .replace(uuid, "<uid>")
    .replace(/(\\"resourceVersion\\":\\")\d+/g, "$1<rv>")
    .replace(/("resourceVersion":")\d+/g, "$1<rv>")
    .replace(time, "<time>")
    .replace(/kube-api-access-[a-z0-9]{5}/g, "kube-api-access-<x>")
    .replace(/(too old resource version: \d+) \(\d+\)/g, "$1 (<rv>)")
    .replace(/\n@@[\s\S]*$/, "")
    .replace(/Invalid value: (?:\{\}|".*"): (strict decoding error|json: )/gs, "Invalid value: <the object>: $1")
    .replace(/current: \d+/g, "current: <rv>")
    .replace(/(in record|in the precondition) \(\d+\)/g, "$1 (<rv>)")
    .replace(/https:\/\/127\.0\.0\.1:\d{4,5}\//g, "https://<hooks>/")
    .replace(/10\.\d+\.\d+\.\d+/g, "<ip>");

const hidden: Readonly<Record<string, string>> = { resourceVersion: "<rv>", continue: "<token>" };

/** Removes repeated causes and sorts the rest: the real server lists some causes once for each of its layers. */
const once = (items: readonly unknown[]): readonly unknown[] => {
  const seen = new Set(items.map((item) => JSON.stringify(item)));
  return [...seen].sort().map((text): unknown => JSON.parse(text));
};

/** Drops the message of a status with several causes: it repeats them, in no fixed order. */
const unordered = (status: object): object => {
  if (!("details" in status && "message" in status)) return status;
  const { message: _repeats, ...rest } = status;
  const { details } = status;
  const causes = typeof details === "object" && details !== null && "causes" in details ? details.causes : [];
  return Array.isArray(causes) && once(causes).length > 1 ? rest : status;
};

/** Normalises an answer: replaces identities, revisions and times, which may differ. */
export const normal = (value: unknown): unknown => {
  if (typeof value === "string") return normalText(value);
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(unordered(value))
      .filter(([key]) => key !== "managedFields" && key !== "description")
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [
        key,
        typeof item === "string" && item !== ""
          ? (hidden[key] ?? normal(item))
          : normal(key === "causes" && Array.isArray(item) ? once(item) : item),
      ]),
  );
};

/** Runs a scenario and returns its transcript. */
export const transcript = async (api: Api, { run }: Scenario, ns: string): Promise<readonly Line[]> => {
  const lines: Line[] = [];
  await api.call("POST", "/api/v1/namespaces", { metadata: { name: ns } });
  await api.settle();
  await run({
    api,
    ns,
    ask: async (name, method, path, body, headers) => {
      const said = await api.call(method, path, body, headers);
      lines.push({ name, said: normal(JSON.parse(JSON.stringify(said).replaceAll(ns, "<ns>"))) });
      return said;
    },
    watch: async (name, path, count) => {
      const events = await api.watch(path, count);
      lines.push({ name, said: normal(JSON.parse(JSON.stringify(events).replaceAll(ns, "<ns>"))) });
      return events;
    },
    note: (name, fact) => lines.push({ name, said: fact }),
  });
  return lines;
};
