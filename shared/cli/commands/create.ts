/** `rekindle create` as people type it. */

import { type Command, Option } from "commander";
import { ApiError } from "../../core/http.ts";
import type { Obj } from "../../core/object.ts";
import { oneLine } from "../../core/text.ts";
import { type Creating, create as createOne, fromSchedule } from "../creation/create.ts";
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
import { type Document, documentsOf } from "../io/documents.ts";
import { connected, onNamespace, type Scoped } from "../io/options.ts";
import { adviceOn, lineOf, Refused, type Session, type Tools } from "../io/tools.ts";

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

/** Lists the problems that a submission would report, before anything is sent. */
const refusals = async (tools: Tools, documents: readonly Document[]): Promise<readonly string[]> => {
  const found = await Promise.all(
    documents.map(async (document) => {
      const problem = await tools.problemWith(document.object);
      return problem === undefined ? [] : [`${subject(document)}: ${problem}`];
    }),
  );
  return found.flat();
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
  if (both === undefined) return [(await createOne(session, given, options)).line];
  const { object, config } = both;
  // The server judges the application in a dry run, before anything is stored.
  await createOne(session, object, { ...options, dryRun: true });
  const before = await createOne(session, config, options);
  const { kept, line } = await createOne(session, object, options);
  if (!options.dryRun && kept.uid !== undefined) {
    const owner = { apiVersion: object.apiVersion, kind: object.kind, name: kept.name, uid: kept.uid };
    const owned = { ...config, metadata: { ...config.metadata, ownerReferences: [owner] } };
    await createOne(session, owned, { ...options, override: true });
  }
  return [before.line, line];
};

/** Uploads an object's files and creates the object. A dry run finds a refusal before the first upload. */
const sendOne = async (tools: Tools, session: Session, { object, uploads }: Prepared, sending: Sending) => {
  const { creating: options, target } = sending;
  if (target !== undefined && uploads.length > 0) {
    await createOne(session, object, { ...options, dryRun: true });
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
  const problems = check ? await refusals(tools, documents) : [];
  for (const line of problems) tools.warn(line);
  if (problems.length > 0) throw new Refused("nothing was sent; --no-check sends it anyway");
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
    .option("-f, --filename <path>", "a file, a folder, or - for what is piped in; may be repeated", several)
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
    .option("--upload-prefix <path>", "stands before NAMESPACE/NAME/FILE in the bucket")
    .option("--upload-to-region <region>", "the region of an S3 bucket; else the AWS client's own")
    .option("--upload-to-endpoint <url>", "an endpoint that speaks S3's or Google's protocol; else the service's own")
    .option("--public", "let everybody read what is uploaded, and the application read it over HTTP")
    .option("--s3-force-path-style", "the bucket in the path of S3's URL, as MinIO has it")
    .option("--override", "replace the spec of objects that exist, and files in the bucket")
    .option("--dry-run", "let the server check everything and store nothing")
    .option("--no-check", "send it even if its submission would be refused")
    .action((name: string | undefined, options: Options) => act(tools, name, options));
