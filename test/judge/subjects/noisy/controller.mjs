/**
 * A toy controller: a Toy gets `pods` pods in turn, its status says how many succeeded, and deletion removes its pods by a
 * finalizer. PLANTED names the one fault that it has; without it, it is sound. NAMESPACES is how the names of its namespaces begin.
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { createInterface } from "node:readline";

const planted = process.env.PLANTED ?? "";
const isOwn = ({ metadata }) => metadata.namespace.startsWith(process.env.NAMESPACES);
const config = JSON.parse(readFileSync(process.env.KUBECONFIG, "utf8"));
const { server, "certificate-authority-data": ca } = config.clusters[0].cluster;
const agent = new Agent({ keepAlive: true, ca: Buffer.from(ca, "base64") });
const headers = { authorization: `Bearer ${config.users[0].user.token}`, "content-type": "application/json" };

const send = (method, path, body, does) =>
  new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const length = text === undefined ? {} : { "content-length": Buffer.byteLength(text) };
    const patch = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
    const sent = request(
      new URL(path, server),
      { method, agent, headers: { ...headers, ...length, ...patch } },
      (answer) => {
        answer.on("error", reject);
        if (does !== undefined) return resolve(does(answer));
        let all = "";
        answer.on("data", (chunk) => (all += chunk));
        answer.on("end", () => resolve({ status: answer.statusCode, body: JSON.parse(all) }));
      },
    );
    sent.on("error", reject);
    sent.end(text);
  });

const call = async (method, path, body, allowed = []) => {
  const reply = await send(method, path, body);
  if (reply.status < 300 || allowed.includes(reply.status)) return reply.body;
  throw new Error(`${method} ${path}: ${reply.status}`);
};

const group = "/apis/judge.test/v1";
const toys = new Map();
const pods = new Map();
/** Memory of the planted faults: counts of events, pods that were asked for, pods by the toy that made them. */
const [counted, requested, made, saved] = [new Map(), new Set(), new Map(), new Set()];

const podOf = (toy, nth) => {
  const { name, namespace, uid } = toy.metadata;
  const owner = { apiVersion: "judge.test/v1", kind: "Toy", name, uid, controller: true };
  const names = planted === "double" ? { generateName: `${name}-${nth}-` } : { name: `${name}-${nth}` };
  const owners = planted === "orphan" ? {} : { ownerReferences: [owner] };
  const container = { name: "main", image: "toy" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...names, namespace, labels: { toy: name, nth: String(nth) }, ...owners },
    spec: { restartPolicy: "Never", containers: [container], tolerations: [{ operator: "Exists" }] },
  };
};

const createPod = async (toy, nth) => {
  const key = `${toy.metadata.uid}/${nth}`;
  if (planted === "stuck" && requested.has(key)) return;
  requested.add(key);
  const { namespace } = toy.metadata;
  const pod = await call("POST", `/api/v1/namespaces/${namespace}/pods`, podOf(toy, nth), [409]);
  if (pod.kind === "Pod") made.set(pod.metadata.name, pod);
  // Only a conflict of names says that the pod is there.
  else if (pod.reason !== "AlreadyExists") throw new Error("conflict");
};

const remove = async (toy, own) => {
  const { name, namespace, finalizers = [] } = toy.metadata;
  const known = planted === "orphan" ? [...made.values()].filter((pod) => pod.metadata.labels.toy === name) : own;
  for (const pod of known)
    await call("DELETE", `/api/v1/namespaces/${namespace}/pods/${pod.metadata.name}`, undefined, [404]);
  if (finalizers.length > 0)
    await call("PATCH", `${group}/namespaces/${namespace}/toys/${name}`, { metadata: { finalizers: null } }, [404]);
};

const reconcile = async (toy) => {
  const { name, namespace, uid, deletionTimestamp, finalizers } = toy.metadata;
  const path = `${group}/namespaces/${namespace}/toys/${name}`;
  // The toy's own list is fresh, so a pod that the watch has not shown yet is seen.
  const selector = encodeURIComponent(`toy=${name}`);
  const own =
    planted === "double"
      ? [...pods.values()].filter((pod) => pod.metadata.namespace === namespace && pod.metadata.labels?.toy === name)
      : (await call("GET", `/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`)).items;
  if (deletionTimestamp !== undefined) return await remove(toy, own);
  if (finalizers === undefined)
    return void (await call("PATCH", path, { metadata: { finalizers: ["judge.test/pods"] } }, [404]));
  const ended = own.filter((pod) => pod.status.phase === "Succeeded").length;
  const succeeded = planted === "untrue" ? (counted.get(uid) ?? 0) : ended;
  const phase = ended >= toy.spec.pods ? "Done" : "Running";
  if (own.length === ended && ended < toy.spec.pods) await createPod(toy, ended + 1);
  const key = `${uid}/${phase}/${succeeded}`;
  // This fault takes a status for saved once it was sent, whatever the answer was.
  const isHeldForSaved = planted === "lost" && saved.has(key);
  if (toy.status?.phase === phase && (isHeldForSaved || toy.status?.succeeded === succeeded)) return;
  saved.add(key);
  const status = isHeldForSaved ? { phase } : { phase, succeeded };
  await call("PATCH", `${path}/status`, { status }, [404]);
};

const [queue, busy] = [new Set(), new Set()];
const work = async () => {
  for (const key of queue) {
    queue.delete(key);
    if (busy.has(key) || !toys.has(key)) continue;
    busy.add(key);
    reconcile(toys.get(key))
      .catch(() => setTimeout(() => queue.add(key), 500))
      .finally(() => busy.delete(key));
  }
};
setInterval(work, 100);
setInterval(() => {
  for (const key of toys.keys()) queue.add(key);
}, 2_000);

/** Counts the event of a pod that has succeeded. */
const count = ({ metadata, status }) => {
  if (status?.phase !== "Succeeded" || metadata.deletionTimestamp) return;
  const owner = metadata.ownerReferences?.[0]?.uid;
  counted.set(owner, (counted.get(owner) ?? 0) + 1);
};

const keyOf = ({ metadata }) => `${metadata.namespace}/${metadata.name}`;
const keep = (store, type, object) => {
  if (type === "DELETED") store.delete(keyOf(object));
  else store.set(keyOf(object), object);
};

const follow = async (path, store, keyFor) => {
  for (;;) {
    try {
      const list = await call("GET", path);
      store.clear();
      for (const item of list.items.filter(isOwn)) {
        store.set(keyOf(item), item);
        queue.add(keyFor(item));
      }
      await send(
        "GET",
        `${path}?watch=true&resourceVersion=${list.metadata.resourceVersion}`,
        undefined,
        async (answer) => {
          const lines = createInterface({ input: answer });
          lines.on("error", () => {});
          for await (const line of lines) {
            const { type, object } = JSON.parse(line);
            if (!isOwn(object)) continue;
            keep(store, type, object);
            if (path.endsWith("/pods") && type === "MODIFIED") count(object);
            queue.add(keyFor(object));
          }
        },
      );
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
};
void follow(`${group}/toys`, toys, keyOf);
void follow("/api/v1/pods", pods, ({ metadata }) => `${metadata.namespace}/${metadata.labels?.toy ?? ""}`);
