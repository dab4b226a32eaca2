/** `rekindle create`, and the creation of objects that it shares with `submit`. */

import { type Command, Option } from "commander";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { request } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/http.ts";
import { fieldsOf, isRecord, jsonOf } from "../../core/json.ts";
import { apiVersionOf, type Obj, type Resource } from "../../core/object.ts";
import { oneLine } from "../../core/text.ts";
import { type Document, documentsOf, nameText } from "../../inspection/io/documents.ts";
import { adviceOn, lineOf, Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { kindOf, usual } from "../../inspection/kinds/all.ts";
import { collectionPath, objectPath, withQuery } from "../../kube/paths.ts";
import { bodyOf, errorOf, storedOf } from "../../kube/responses.ts";
import { scheduledSparkApplications as resource } from "../../spark/schema/resource.ts";
import {
  type HadoopFiles,
  hadoopFiles,
  type Prepared,
  type UploadOptions,
  type UploadTarget,
  uploadAll,
  uploadProblems,
  uploadTarget,
  withHadoop,
  withUploads,
} from "../creation/files.ts";
import { connected, onNamespace, type Scoped } from "../io/options.ts";
import type { Tools } from "../io/tools.ts";

type Creating = {
  readonly namespace: string | undefined;
  /** An object that exists gets the new spec. */
  readonly override: boolean;
  /** The server checks everything and keeps nothing. */
  readonly dryRun: boolean;
};

type Place = { readonly resource: Resource; readonly isNamespaced: boolean };

/** Finds the resource of an object: known for Rekindle's kinds, looked up at the API server for others. */
const placeOf = async ({ transport }: Session, object: Obj): Promise<Place> => {
  const kind = kindOf(object);
  if (kind !== undefined) return { resource: kind.resource, isNamespaced: true };
  const [version = "", group = ""] = object.apiVersion.split("/").reverse();
  const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const { resources } = await request(transport, "GET", path).catch((cause: unknown) => {
    if (cause instanceof ApiError && cause.status === 404) return { resources: [] };
    throw cause;
  });
  const all = Array.isArray(resources) ? resources.filter(isRecord) : [];
  const found = all.find(({ kind: its, name }) => its === object.kind && !String(name).includes("/"));
  if (found === undefined) throw new Refused(`the server knows no ${object.kind} in ${object.apiVersion}`);
  const resource = { group, version, plural: String(found["name"]), kind: object.kind };
  return { resource, isNamespaced: found["namespaced"] === true };
};

/** Sets the namespace of an object. Refuses a `-n` other than the namespace that the object names. */
const settled = (session: Session, object: Obj, { isNamespaced }: Place, namespace: string | undefined): Obj => {
  if (!isNamespaced) return object;
  const own = object.metadata.namespace;
  if (own !== undefined && namespace !== undefined && own !== namespace)
    throw new Refused(`its metadata.namespace is ${own}, and -n says ${namespace}: keep one of them`);
  return { ...object, metadata: { ...object.metadata, namespace: own ?? namespace ?? session.namespace ?? "default" } };
};

const causesIn = (body: string): readonly string[] => {
  const status = jsonOf(body);
  const details = isRecord(status) ? status["details"] : undefined;
  const causes = isRecord(details) && Array.isArray(details["causes"]) ? details["causes"].filter(isRecord) : [];
  return causes.map(({ field, message }) =>
    [field, message].filter((part) => part !== undefined && part !== "").join(": "),
  );
};

/** Shortens the API server's answer to each field and its problem. */
const clear = (error: ApiError, body: string): string => {
  const causes = [...new Set(causesIn(body))];
  if (causes.length > 0) return causes.join("; ");
  const strict = /strict decoding error: (.*)$/s.exec(error.message)?.[1];
  if (strict !== undefined) return `${strict}: a field that is misspelt, or not known to the installed CRD`;
  const denied = /admission webhook "([^"]+)" denied the request: (.*)$/s.exec(error.message);
  return denied === null ? error.message : `${denied[2]} (says the admission webhook ${denied[1]})`;
};

type ObjectRequest = {
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly object: Obj;
  readonly dryRun: boolean;
};

/** Identity of an object in the API server's answer. It has no resourceVersion, as a dry run's answer has none. */
type Kept = { readonly name: string; readonly namespace: string | undefined; readonly uid: string | undefined };

const keptOf = ({ metadata }: Readonly<Record<string, unknown>>): Kept => {
  const { name, namespace, uid } = fieldsOf(metadata);
  const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  return { name: String(name), namespace: textIn(namespace), uid: textIn(uid) };
};

const send = async ({ transport }: Session, { method, path, object, dryRun }: ObjectRequest): Promise<Kept> => {
  const query = { fieldManager: "rekindle", fieldValidation: "Strict", dryRun: dryRun ? "All" : undefined };
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify(object);
  const response = await transport.send({ method, path: withQuery(path, query), headers, body, timeoutMs: 15_000 });
  if (response.status < 300) return keptOf(bodyOf(`${method} ${path}`, response));
  const error = errorOf(method, response);
  if (![400, 409, 422].includes(error.status) && !error.message.includes("admission webhook")) throw error;
  const { status, reason } = error;
  throw new ApiError({ status, reason, message: clear(error, response.body), cause: error });
};

const replaced = async (session: Session, object: Obj, resource: Resource, dryRun: boolean): Promise<Kept> => {
  const { name, namespace } = object.metadata;
  const ref = { resource, name, ...(namespace === undefined ? {} : { namespace }) };
  const path = objectPath(ref);
  const existing = storedOf(
    `GET ${path}`,
    await session.transport.send({ method: "GET", path, headers: {}, timeoutMs: 5_000 }),
  );
  const { uid, resourceVersion, ownerReferences, finalizers } = existing.metadata;
  const kept = { ...(ownerReferences && { ownerReferences }), ...(finalizers && { finalizers }) };
  const metadata = { ...kept, ...object.metadata, uid, resourceVersion };
  return send(session, { method: "PUT", path, object: { ...object, metadata }, dryRun });
};

const named = ({ metadata }: Obj): string => metadata.name;

/** Creates or replaces one object. Returns its identity, and the line that tells what was done. */
export const createObject = async (
  session: Session,
  given: Obj,
  { namespace, override, dryRun }: Creating,
): Promise<{ readonly kept: Kept; readonly line: string }> => {
  const place = await placeOf(session, given);
  const { resource } = place;
  const object = settled(session, given, place, namespace);
  const outcome = (kept: Kept, word: string) => ({
    kept,
    line: `${nameText(resource, kept.name)} ${word}${dryRun ? " (dry run)" : ""}`,
  });
  try {
    const path = collectionPath(resource, object.metadata.namespace);
    return outcome(await send(session, { method: "POST", path, object, dryRun }), "created");
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.reason !== "AlreadyExists") throw cause;
    if (!override)
      throw new Refused(
        `there is a ${apiVersionOf(resource)} ${resource.kind} ${named(object)} already; --override gives it this spec`,
        { cause },
      );
    return outcome(await replaced(session, object, resource, dryRun), "replaced");
  }
};

/** The schedule by `NAME` or `NAMESPACE/NAME`. */
const refOf = (text: string, session: Pick<Session, "namespace">, namespace: string | undefined) => {
  const parts = text.split("/");
  const [name = "", own] = [...parts].reverse();
  if (parts.length > 2 || parts.includes("")) throw new Refused(`--from ${text}: write NAME or NAMESPACE/NAME`);
  if (own !== undefined && namespace !== undefined && own !== namespace)
    throw new Refused(`--from ${text} and -n ${namespace} name different namespaces: keep one of them`);
  return { name, namespace: own ?? namespace ?? session.namespace ?? "default" };
};

/**
 * An application with the template of a schedule. As with sparkctl, the schedule owns it: it is deleted with the
 * schedule. It bears no label of the schedule, so it counts neither for its history nor for its concurrency policy.
 */
const fromSchedule = async (
  session: Session,
  { name, from, namespace }: { readonly name: string; readonly from: string; readonly namespace: string | undefined },
): Promise<Document> => {
  const ref = refOf(from, session, namespace);
  const { value: schedule } = await openCluster(session.transport).get({ resource, ...ref });
  if (schedule === undefined)
    throw new Refused(
      `there is no ${resource.kind} ${ref.namespace}/${ref.name}; see them all with: rekindle list ${resource.kind}`,
    );
  const spec = isRecord(schedule.spec) ? schedule.spec["template"] : undefined;
  if (!isRecord(spec)) throw new Refused(`${resource.kind} ${ref.namespace}/${ref.name} has no spec.template`);
  const owner = { apiVersion: schedule.apiVersion, kind: schedule.kind, name: ref.name, uid: schedule.metadata.uid };
  const object: Obj = {
    apiVersion: apiVersionOf(usual.resource),
    kind: usual.resource.kind,
    metadata: { name, namespace: ref.namespace, ownerReferences: [owner] },
    spec,
  };
  return { object, place: `--from ${from}` };
};

type Options = Scoped &
  UploadOptions & {
    readonly filename?: readonly string[];
    readonly from?: string;
    readonly hadoopConfDir?: string;
    readonly override?: true;
    readonly dryRun?: true;
    readonly check: boolean;
  };

const subject = ({ object, place }: Document): string => `${place}: ${object.kind} ${object.metadata.name}`;

/** Warns of what a submission would report, before anything is sent. Returns the number of refused documents. */
const warned = async (tools: Tools, documents: readonly Document[]): Promise<number> => {
  const found = await Promise.all(
    documents.map(async (document) => ({ of: subject(document), ...(await tools.check(document.object)) })),
  );
  for (const { of, refused, notes } of found)
    for (const line of refused === undefined ? notes : [refused]) tools.warn(`${of}: ${line}`);
  return found.filter(({ refused }) => refused !== undefined).length;
};

/** The request, the Hadoop configuration that goes along, and the store that local files are uploaded to. */
type Sending = {
  readonly creating: Creating;
  readonly files: HadoopFiles | undefined;
  readonly target: UploadTarget | undefined;
};

/** Creates one object, and before it the ConfigMap of its Hadoop configuration, which the application then owns. */
const sendObject = async (session: Session, given: Obj, { creating: options, files }: Sending) => {
  const both = withHadoop(given, files);
  if (both === undefined) return [(await createObject(session, given, options)).line];
  const { object, config } = both;
  // The server judges the application in a dry run, before anything is stored.
  await createObject(session, object, { ...options, dryRun: true });
  const before = await createObject(session, config, options);
  const { kept, line } = await createObject(session, object, options);
  if (!options.dryRun && kept.uid !== undefined) {
    const owner = { apiVersion: object.apiVersion, kind: object.kind, name: kept.name, uid: kept.uid };
    const owned = { ...config, metadata: { ...config.metadata, ownerReferences: [owner] } };
    await createObject(session, owned, { ...options, override: true });
  }
  return [before.line, line];
};

/** Uploads an object's files and creates the object. A dry run finds a refusal before the first upload. */
const sendOne = async (tools: Tools, session: Session, { object, uploads }: Prepared, sending: Sending) => {
  const { creating: options, target } = sending;
  if (target !== undefined && uploads.length > 0) {
    await createObject(session, object, { ...options, dryRun: true });
    for (const line of await uploadAll(target, uploads, options)) tools.print(line);
  }
  for (const line of await sendObject(session, object, sending)) tools.print(line);
};

/** Creates the objects one after the other, also after a refusal. Returns the number of refused objects. */
const sendAll = async (
  tools: Tools,
  session: Session,
  documents: readonly Prepared[],
  sending: Sending,
): Promise<number> => {
  let refused = 0;
  for (const document of documents) {
    try {
      await sendOne(tools, session, document, sending);
    } catch (cause) {
      const isOurs = cause instanceof Refused || cause instanceof ApiError;
      if (!isOurs || (cause instanceof ApiError && cause.status === 0)) throw cause;
      refused += 1;
      const line = cause instanceof ApiError ? adviceOn(cause, session) : lineOf(cause);
      tools.warn(`${subject(document)}: ${oneLine(line)}`);
    }
  }
  return refused;
};

/** Returns the source: files, or one run of a schedule under a name. Refuses both together, and neither. */
const sourceOf = (name: string | undefined, { filename, from }: Options) => {
  if (filename !== undefined && name === undefined && from === undefined) return { filename };
  if (filename === undefined && name !== undefined && from !== undefined) return { name, from };
  throw new Refused("say what to create: -f FILE, or NAME --from SCHEDULE");
};

const checked = async (tools: Tools, documents: readonly Document[], { check }: Options): Promise<void> => {
  const refused = check ? await warned(tools, documents) : 0;
  if (refused > 0) throw new Refused("nothing was sent; --no-check sends it anyway");
};

/** Replaces local files in the documents by their names in the bucket. One missing file refuses all documents. */
const prepared = async (
  tools: Tools,
  session: Session,
  documents: readonly Document[],
  { namespace, target }: { readonly namespace: string | undefined; readonly target: UploadTarget | undefined },
): Promise<readonly Prepared[]> => {
  if (target === undefined) return documents.map((document) => ({ ...document, uploads: [] }));
  const all = documents.map((document) => {
    const { object } = document;
    const where = object.metadata.namespace ?? namespace ?? session.namespace ?? "default";
    return { ...document, ...withUploads(object, where, target) };
  });
  const problems = await Promise.all(
    all.map(async (one) => (await uploadProblems(one.uploads)).map((line) => `${subject(one)}: ${line}`)),
  );
  for (const line of problems.flat()) tools.warn(line);
  if (problems.flat().length > 0) throw new Refused("nothing was sent");
  return all;
};

const act = async (tools: Tools, name: string | undefined, options: Options): Promise<void> => {
  const source = sourceOf(name, options);
  const target = uploadTarget(options);
  const written = source.filename === undefined ? undefined : await documentsOf(source.filename, tools.stdin);
  const isEarly = written !== undefined && target === undefined;
  if (isEarly) await checked(tools, written, options);
  await connected(tools, options, async (session) => {
    const { namespace } = options;
    const given =
      source.filename === undefined ? [await fromSchedule(session, { ...source, namespace })] : (written ?? []);
    const documents = await prepared(tools, session, given, { namespace, target });
    if (!isEarly) await checked(tools, documents, options);
    const folder = options.hadoopConfDir ?? "";
    const files = folder === "" ? undefined : await hadoopFiles(folder);
    const creating = { namespace, override: options.override === true, dryRun: options.dryRun === true };
    const refused = await sendAll(tools, session, documents, { creating, files, target });
    if (refused > 0) throw new Refused(`${refused} of ${documents.length} refused`);
  });
};

const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export const create = (tools: Tools): Command =>
  onNamespace("create")
    .argument("[name]", "with --from: the application's name")
    .option("-f, --filename <path>", "a file, a folder, or - for standard input; may be repeated", several)
    .option("--from <schedule>", "one run of the template of this ScheduledSparkApplication, now")
    .addOption(
      new Option(
        "--hadoop-conf-dir <folder>",
        "Hadoop's configuration: a ConfigMap beside each application that names none",
      ).env("HADOOP_CONF_DIR"),
    )
    .option(
      "--upload-to <url>",
      "s3://BUCKET/PATH or gs://BUCKET/PATH: local files of the application are uploaded there",
    )
    .option("--upload-prefix <path>", "path in the bucket before NAMESPACE/NAME/FILE")
    .option("--upload-to-region <region>", "the region of an S3 bucket; else the AWS client's own")
    .option("--upload-to-endpoint <url>", "an endpoint that speaks S3's or Google's protocol; else the service's own")
    .option("--public", "make uploaded files public, and let the application read them over HTTP")
    .option("--s3-force-path-style", "put the bucket into the path of S3's URLs, as MinIO needs it")
    .option("--override", "replace the spec of objects that exist, and files in the bucket")
    .option("--dry-run", "let the server check everything and store nothing")
    .option("--no-check", "send it even if its submission would be refused")
    .action((name: string | undefined, options: Options) => act(tools, name, options));
