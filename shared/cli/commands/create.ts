/** `rekindle create` as people type it. */
import type { Command } from "commander";
import { ApiError } from "../../core/errors.ts";
import { create as createOne } from "../create.ts";
import { type Document, documentsOf } from "../documents.ts";
import { adviceOn, lineOf, Refused } from "../failure.ts";
import { connected, onNamespace, type Scoped } from "../options.ts";
import type { Session, Tools } from "../tools.ts";

type Options = Scoped & {
  readonly filename: readonly string[];
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

/** Sends one after the other; one that is refused keeps none of the others back. Gives how many were refused. */
const sendAll = async (
  tools: Tools,
  session: Session,
  documents: readonly Document[],
  options: Options,
): Promise<number> => {
  let refused = 0;
  const asked = { namespace: options.namespace, override: options.override === true, dryRun: options.dryRun === true };
  for (const document of documents) {
    try {
      tools.print((await createOne(session, document.object, asked)).line);
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

const act = async (tools: Tools, options: Options): Promise<void> => {
  const documents = await documentsOf(options.filename, tools.stdin);
  const problems = options.check ? await refusals(tools, documents) : [];
  for (const line of problems) tools.warn(line);
  if (problems.length > 0) throw new Refused("nothing was sent (--no-check sends it all the same)");
  await connected(tools, options, async (session) => {
    const refused = await sendAll(tools, session, documents, options);
    if (refused > 0) throw new Refused(`${refused} of ${documents.length} refused`);
  });
};

const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export const create = (tools: Tools): Command =>
  onNamespace("create")
    .requiredOption("-f, --filename <path>", "a file, a folder, or - for what is piped in; may be repeated", several)
    .option("--override", "what is there already gets this spec")
    .option("--dry-run", "the server checks everything and keeps nothing")
    .option("--no-check", "send it, although it would be refused when it is submitted")
    .action((options: Options) => act(tools, options));
