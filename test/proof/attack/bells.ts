/**
 * The bell's door: strangers, forged reviews of one who knows its path, and floods. Each makes at most looks: it forwards and
 * logs no content, refuses nothing, and loses no ring of a neighbour.
 */
import { type FakeSqs, openFake, taken } from "../../unit/adapters/sqs/fake.ts";
import { type Attack, must } from "./attack.ts";
import { type Flood, flooding } from "./flooder.ts";
import { beside, type Confined, unfinished, whole, withFunction } from "./floods.ts";
import type { Fields } from "./objects.ts";
import { fresh } from "./stand.ts";

const path = "a-path-that-only-the-api-server-knows";
const canary = "canary-content-of-an-object-4715";

const application = { group: "sparkoperator.k8s.io", version: "v1beta2" };
const core = { group: "", version: "v1" };

type Review = { readonly request: Fields } & Fields;

/** A review of a new application; `more` replaces fields of the request. */
const review = (namespace: string, name: string, more: Fields = {}): Review => ({
  ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
  request: {
    ...{ uid: fresh("review"), operation: "CREATE", namespace, name },
    kind: { ...application, kind: "SparkApplication" },
    resource: { ...application, resource: "sparkapplications" },
    object: object(namespace, name),
    ...more,
  },
});

const object = (namespace: string, name: string, metadata: Fields = {}): Fields => ({
  ...{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication" },
  metadata: { name, namespace, uid: fresh("uid"), annotations: { filler: canary }, ...metadata },
  spec: { sparkConf: { "spark.secret": canary }, driver: { env: [{ name: "S", value: canary }] } },
});

const forged = (more: Fields): Review => review("mallory", "forged", more);
const ofMetadata = (metadata: Fields): Review => forged({ object: object("mallory", "forged", metadata) });

/** A pod of Spark with these labels, whoever made it. */
const podOf = (labels: Fields, metadata: Fields = {}): Review =>
  forged({
    kind: { ...core, kind: "Pod" },
    resource: { ...core, resource: "pods" },
    object: {
      ...{ apiVersion: "v1", kind: "Pod" },
      metadata: { name: "p", namespace: "mallory", uid: "u", labels, ...metadata },
      spec: { containers: [{ name: "c", image: canary, env: [{ name: "S", value: canary }] }] },
      status: { phase: "Failed" },
    },
  });

const eviction = (of: Fields, more: Fields = {}): Review =>
  forged({
    subResource: "eviction",
    kind: { group: "policy", version: "v1", kind: "Eviction" },
    resource: { ...core, resource: "pods" },
    object: { apiVersion: "policy/v1", kind: "Eviction", metadata: of },
    ...more,
  });

const nodeDeletion = (name: string): Review =>
  forged({
    operation: "DELETE",
    kind: { ...core, kind: "Node" },
    resource: { ...core, resource: "nodes" },
    object: null,
    oldObject: { apiVersion: "v1", kind: "Node", metadata: { name, uid: "u", resourceVersion: "5" } },
  });

const old = (metadata: Fields = {}): Fields => object("mallory", "forged", { resourceVersion: "5", ...metadata });

/** Bodies from a sender that knows the path of the bell; a text is sent as it is. */
const forgeries: readonly (readonly [name: string, body: Review | string])[] = [
  ["no JSON", `{"a":"${canary}`],
  ["null", "null"],
  ["a list of reviews", JSON.stringify([review("mallory", "listed")])],
  ["of another version", { ...forged({}), apiVersion: "admission.k8s.io/v1beta1" }],
  ["without a request", JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" })],
  ["without a uid", forged({ uid: undefined })],
  ["of 200,000 arrays", `{"a":${"[".repeat(200_000)}`],
  ["of 9 MB", "x".repeat(9_000_000)],
  ["with __proto__", `{"__proto__":{"request":${JSON.stringify(forged({}).request)}}}`],
  ["of another operation", forged({ operation: "CONNECT" })],
  ["of a kind that is not its resource's", forged({ resource: { ...core, resource: "pods" } })],
  ["without a resource", forged({ resource: undefined })],
  ["with names in the request that are not the object's", forged({ namespace: "default", name: "neighbour" })],
  ["without an object", forged({ object: null })],
  ["of a deletion of nothing", forged({ operation: "DELETE", object: null })],
  [
    "of a change that changes nothing",
    forged({ operation: "UPDATE", object: old({ uid: "u" }), oldObject: old({ uid: "u" }) }),
  ],
  ["of a change without the object before", forged({ operation: "UPDATE" })],
  ["of a trial", forged({ dryRun: true })],
  ["of a shell", forged({ subResource: "exec" })],
  [
    "of a status",
    forged({ operation: "UPDATE", subResource: "status", object: old(), oldObject: old({ labels: {} }) }),
  ],
  ["with metadata that are a text", forged({ object: { ...object("mallory", "forged"), metadata: canary } })],
  ["with labels that are a number", ofMetadata({ labels: 5 })],
  ["with annotations that are a text", ofMetadata({ annotations: canary })],
  [
    "with 10,000 owners",
    podOf({}, { ownerReferences: Array.from({ length: 10_000 }, () => ({ kind: "Job", name: canary })) }),
  ],
  ["with a name of lines and markup", ofMetadata({ name: "a\nb\u2028<script>/../c" })],
  ["with a name of a megabyte", ofMetadata({ name: "n".repeat(1_000_000) })],
  [
    "with a version of an object to come",
    forged({ operation: "UPDATE", object: old(), oldObject: old({ resourceVersion: "9".repeat(300), uid: "x" }) }),
  ],
  [
    "of a pod with the labels of a neighbour's application",
    podOf({
      "sparkoperator.k8s.io/launched-by-spark-operator": "true",
      "sparkoperator.k8s.io/app-name": "neighbour",
      "spark-role": "executor",
    }),
  ],
  [
    "of a pod with a label of a megabyte",
    podOf({
      "sparkoperator.k8s.io/launched-by-spark-operator": "true",
      "sparkoperator.k8s.io/app-name": "n".repeat(1_000_000),
    }),
  ],
  ["of an eviction without a name", eviction({}, { name: undefined })],
  ["of an eviction in another namespace", eviction({ name: "neighbour-driver", namespace: "default" })],
  ["of an eviction on trial", eviction({ name: "p", namespace: "mallory" }, { dryRun: true })],
  ["of the deletion of a node", nodeDeletion("node-1")],
  ["of the deletion of a node whose name is markup", nodeDeletion("<script>\n/../")],
];

type Bell = Confined & { readonly queue: FakeSqs };

const postedTo = async (port: number, at: string, body: Review | string, method = "POST"): Promise<Response> =>
  await fetch(`http://127.0.0.1:${port}/${at}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(method === "GET" ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });

/** Runs with a bell of its own, whose queue takes everything. */
const withBell = async (act: (bell: Bell) => Promise<undefined>): Promise<undefined> => {
  const queue = await openFake(taken);
  try {
    return await withFunction(
      "bell",
      async () => ({
        ...{ REKINDLE_ADMISSION_PATH: path, REKINDLE_FIFO_URL: `${queue.url}/0/keys.fifo` },
        ...{ REKINDLE_DELAY_URL: `${queue.url}/0/later`, REKINDLE_LOG_LEVEL: "debug" },
        ...{ AWS_ENDPOINT_URL_SQS: queue.url, AWS_REGION: "eu-west-1" },
        ...{ AWS_ACCESS_KEY_ID: "nobody", AWS_SECRET_ACCESS_KEY: "nobody" },
      }),
      (one) => act({ ...one, queue }),
    );
  } finally {
    queue.close();
  }
};

const sentIn = ({ queue }: Bell): string => JSON.stringify(queue.asked);

/** Rings for a neighbour's application. True if it is allowed and its key is in the queue. */
const rings = async (bell: Bell): Promise<boolean> => {
  const name = fresh("neighbour");
  const answer = await postedTo(bell.port, `${path}/bell`, review("default", name));
  return answer.status === 200 && (await answer.text()).includes('"allowed":true') && sentIn(bell).includes(name);
};

/** The fields of a message that names a key, and of nothing else. */
const mustBeSilent = (bell: Bell): void => {
  for (const [what, text] of [
    ["its log", bell.log()],
    ["the queue", sentIn(bell)],
  ] as const)
    must(!text.includes(canary), `${what} has content of an object`);
  must(sentIn(bell).length < 100_000, `the queue holds ${sentIn(bell).length} characters`);
};

const afterwards = async (bell: Bell): Promise<undefined> => {
  mustBeSilent(bell);
  must(await rings(bell), "a neighbour's ring is lost afterwards");
  return undefined;
};

const strangers: readonly (readonly [name: string, at: string, method?: string])[] = [
  ["without a path", "bell"],
  ["with an empty path", "/bell"],
  ["with another path", `${"b".repeat(path.length)}/bell`],
  ["with the beginning of the path", `${path.slice(0, -1)}/bell`],
  ["with the path and more", `${path}x/bell`],
  ["with the path in capitals", `${path.toUpperCase()}/bell`],
  ["with the path twice", `${path}/${path}/bell`],
  ["at another door", `${path}/validate`],
  ["that reads", `${path}/bell`, "GET"],
  ["that replaces", `${path}/bell`, "PUT"],
];

const attackOf = (name: string, act: (bell: Bell) => Promise<undefined>, short?: true): Attack => ({
  ...{ class: "bell", name, stage: "simulated" },
  ...(short === undefined ? {} : { short }),
  run: () => withBell(act),
});

const ofStrangers = strangers.map(([name, at, method], nth) =>
  attackOf(
    `a stranger ${name} is told nothing`,
    async (bell) => {
      const { status } = await postedTo(bell.port, at, review("mallory", "stranger"), method);
      must(status === 404, `it is answered ${status}`);
      must(bell.queue.asked.length === 0, "it has rung");
      return await afterwards(bell);
    },
    nth === 0 ? true : undefined,
  ),
);

const ofForgers = forgeries.map(([name, body], nth) =>
  attackOf(
    `a review ${name}`,
    async (bell) => {
      const answer = await postedTo(bell.port, `${path}/bell`, body);
      const text = await answer.text();
      must([200, 400, 413].includes(answer.status), `it is answered ${answer.status}: ${text.slice(0, 300)}`);
      must(!text.includes('"allowed":false') && !text.includes(canary), `it is answered ${text.slice(0, 300)}`);
      return await afterwards(bell);
    },
    nth === 0 ? true : undefined,
  ),
);

const floods: readonly (readonly [name: string, flood: Flood])[] = [
  ["2,500 connections that say nothing", { connections: 2_500, sends: "" }],
  ["500 connections with 8 MB of a review each", { connections: 500, ...unfinished(`/${path}/bell`, 8_000_000) }],
  [
    "1,000 whole reviews of strangers",
    { connections: 1_000, again: true, sends: whole("/x/bell", "x".repeat(200_000)) },
  ],
  [
    "300 whole reviews of one application at the right path",
    { connections: 300, again: true, sends: whole(`/${path}/bell`, JSON.stringify(review("mallory", "many"))) },
  ],
];

const ofCrowds = floods.map(([name, flood]) =>
  attackOf(`flood: ${name}`, (bell) =>
    beside(flooding({ port: bell.port, secure: false }, flood), () => rings(bell)).then(() => {
      must(!bell.log().includes(canary), "its log has content of an object");
      return undefined;
    }),
  ),
);

export const bells: readonly Attack[] = [...ofStrangers, ...ofForgers, ...ofCrowds];
