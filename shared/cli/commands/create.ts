/** `rekindle create` as people type it. */
import { type Command, Option } from "commander";
import { ApiError } from "../../core/errors.ts";
import type { Obj } from "../../core/object.ts";
import { type Creating, create as createOne } from "../create.ts";
import { type HadoopFiles, hadoopFiles, withHadoop } from "../creation/hadoop.ts";
import { fromSchedule } from "../creation/schedule.ts";
import { type Document, documentsOf } from "../documents.ts";
import { adviceOn, lineOf, Refused } from "../failure.ts";
import { connected, onNamespace, type Scoped } from "../options.ts";
import type { Session, Tools } from "../tools.ts";

type Options = Scoped & {
  readonly filename?: readonly string[];
  readonly from?: string;
  readonly hadoopConfDir?: string;
  readonly override?: true;
  readonly dryRun?: true;
  readonly check: boolean;
};

const subject = ({ object, place }: Document): string => `${place}: ${object.kind} ${object.metadata.name}`;

/** What would only be said at submission is said before anything is sent. */
const refusals = async (tools: Tools, documents: readonly Document[]): Promise<readonly string[]> => {
  const found = await Promise.all(
    documents.map(async (document) => {
      const problem = await tools.problemWith(document.object);
      return problem === undefined ? [] : [`${subject(document)}: ${problem}`];
    }),
  );
  return found.flat();
};

/** Sends one; before it the ConfigMap of its Hadoop configuration, which is the application's as soon as that is there. */
const sendOne = async (session: Session, given: Obj, asked: Creating, files: HadoopFiles | undefined) => {
  const both = withHadoop(given, files);
  if (both === undefined) return [(await createOne(session, given, asked)).line];
  const { object, config } = both;
  // What the server has against the application is found out before anything is kept.
  await createOne(session, object, { ...asked, dryRun: true });
  const before = await createOne(session, config, asked);
  const { kept, line } = await createOne(session, object, asked);
  if (!asked.dryRun && kept.uid !== undefined) {
    const owner = { apiVersion: object.apiVersion, kind: object.kind, name: kept.name, uid: kept.uid };
    const owned = { ...config, metadata: { ...config.metadata, ownerReferences: [owner] } };
    await createOne(session, owned, { ...asked, override: true });
  }
  return [before.line, line];
};

/** Sends one after the other; one that is refused keeps none of the others back. Gives how many were refused. */
const sendAll = async (
  tools: Tools,
  session: Session,
  documents: readonly Document[],
  options: Options,
  files: HadoopFiles | undefined,
): Promise<number> => {
  let refused = 0;
  const asked = { namespace: options.namespace, override: options.override === true, dryRun: options.dryRun === true };
  for (const document of documents) {
    try {
      for (const line of await sendOne(session, document.object, asked, files)) tools.print(line);
    } catch (cause) {
      const isOurs = cause instanceof Refused || cause instanceof ApiError;
      if (!isOurs || (cause instanceof ApiError && cause.status === 0)) throw cause;
      refused += 1;
      const line = cause instanceof ApiError ? adviceOn(cause, session) : lineOf(cause);
      tools.warn(`${subject(document)}: ${line.replaceAll(/\s*\n\s*/g, " ")}`);
    }
  }
  return refused;
};

/** What is asked for: files, or one run of a schedule under a name; both together are a mistake. */
const sourceOf = (name: string | undefined, { filename, from }: Options) => {
  if (filename !== undefined && name === undefined && from === undefined) return { filename };
  if (filename === undefined && name !== undefined && from !== undefined) return { name, from };
  throw new Refused("say what to create: -f FILE, or NAME --from SCHEDULE");
};

const checked = async (tools: Tools, documents: readonly Document[], { check }: Options): Promise<void> => {
  const problems = check ? await refusals(tools, documents) : [];
  for (const line of problems) tools.warn(line);
  if (problems.length > 0) throw new Refused("nothing was sent (--no-check sends it all the same)");
};

const act = async (tools: Tools, name: string | undefined, options: Options): Promise<void> => {
  const source = sourceOf(name, options);
  const written = source.filename === undefined ? undefined : await documentsOf(source.filename, tools.stdin);
  if (written !== undefined) await checked(tools, written, options);
  await connected(tools, options, async (session) => {
    const { namespace } = options;
    const documents =
      source.filename === undefined ? [await fromSchedule(session, { ...source, namespace })] : (written ?? []);
    if (written === undefined) await checked(tools, documents, options);
    const folder = options.hadoopConfDir ?? "";
    const files = folder === "" ? undefined : await hadoopFiles(folder);
    const refused = await sendAll(tools, session, documents, options, files);
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
    .option("--override", "what is there already gets this spec")
    .option("--dry-run", "the server checks everything and keeps nothing")
    .option("--no-check", "send it, although it would be refused when it is submitted")
    .action((name: string | undefined, options: Options) => act(tools, name, options));
