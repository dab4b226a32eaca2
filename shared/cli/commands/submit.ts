/** `rekindle submit` as people type it: spark-submit's flags, and an application on Kubernetes. */
import { readFile } from "node:fs/promises";
import { type Command, Option } from "commander";
import { digest } from "../../core/key.ts";
import { keyKindOf, type Obj } from "../../core/object.ts";
import { asDocuments, asJson } from "../../inspection/io/documents.ts";
import { exits, Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { spanText } from "../../inspection/io/text.ts";
import { usual } from "../../inspection/kinds/all.ts";
import { look, statusText } from "../../inspection/status.ts";
import { lifeOf, stillText, type Target } from "../../inspection/target.ts";
import type { ObjectState } from "../../kube/object-state.ts";
import { applicationOf, flags } from "../creation/submission.ts";
import { type Bounds, within } from "../io/deadline.ts";
import { connected, onNamespace, outputOption, type Scoped, timeoutOption } from "../io/options.ts";
import type { Tools } from "../io/tools.ts";
import { createObject } from "./create.ts";
import { showLog } from "./log.ts";

type Options = Scoped & {
  readonly propertiesFile?: string;
  readonly output?: string;
  readonly wait?: true;
  readonly watch?: true;
  readonly timeout?: number;
  readonly [name: string]: unknown;
};

const againMs = 2_000;

/** Longest silence while the state stays the same, ms. */
const quietMs = 30_000;

/** Reports each new state, and an unchanged state every `quietMs`. */
const progress = (tools: Tools, name: string): ((state: ObjectState) => void) => {
  const began = tools.now();
  let said = { state: "", at: Number.NEGATIVE_INFINITY };
  return ({ state, ended, what }) => {
    const now = tools.now();
    if (ended !== undefined || (state === said.state && now - said.at < quietMs)) return;
    said = { state, at: now };
    tools.warn(`${spanText(now - began)}  ${name} is ${state} and waits for ${what.waitsFor}`);
  };
};

/** Waits until the application has ended and reports its progress. A failure throws with its exit code. */
const awaitEnd = async ({ tools, session }: Bounds, target: Target): Promise<void> => {
  const name = `${target.key.namespace}/${target.key.name}`;
  const tell = progress(tools, name);
  for (;;) {
    const life = await lifeOf(session, target);
    if (life !== undefined) tell(life.state);
    if (life === undefined) throw new Refused(`${name} was deleted`, { code: exits.applicationFailed });
    if (life.state.ended === "well") return;
    if (life.state.ended === "badly")
      throw new Refused(`${name} has failed: ${life.state.message ?? life.state.state}`, {
        code: exits.applicationFailed,
      });
    await tools.sleep(againMs);
  }
};

const watched = { follow: true, tail: undefined, sinceMs: undefined, timestamps: false, previous: false } as const;

/** Follows the log, where it is wanted, and waits for the end: both within the one timeout. */
const followed = (tools: Tools, session: Session, target: Target, options: Options): Promise<void> => {
  const follow = async (bounds: Bounds): Promise<void> => {
    if (options.watch === true)
      await showLog(bounds.tools, bounds.session, target, { ...watched, executor: undefined, container: undefined });
    await awaitEnd(bounds, target);
    tools.print(statusText(await look(session, target, tools.now()), tools.paint));
  };
  return within({ tools, session }, options.timeout, follow, () => stillText(session, target));
};

const send = async (tools: Tools, object: Obj, options: Options): Promise<void> => {
  const { name, ...metadata } = object.metadata;
  const sent = { ...object, metadata: name === "" ? { ...metadata, name: undefined } : object.metadata };
  const { refused, notes } = await tools.check({ ...object, metadata: { ...metadata, name: name || "generated" } });
  if (refused !== undefined) throw new Refused(refused);
  for (const note of notes) tools.warn(note);
  await connected(tools, options, async (session) => {
    const creating = { namespace: options.namespace, override: false, dryRun: false };
    const { kept, line } = await createObject(session, JSON.parse(JSON.stringify(sent)), creating);
    tools.print(line);
    const key = { cluster: "default", kind: keyKindOf(usual.resource), name: kept.name };
    const target = { kind: usual, key: { ...key, namespace: kept.namespace ?? "default" } };
    if (options.wait === true || options.watch === true) await followed(tools, session, target, options);
  });
};

/** The object as a file. `kubectl apply` takes no generateName, so one command line always gives the same name. */
const namedWhole = (object: Obj): object => {
  const { name, ...metadata } = object.metadata;
  if (!("generateName" in metadata)) return object;
  const { generateName, ...rest } = metadata;
  const whole = `${generateName}${digest(JSON.stringify(object)).slice(0, 8)}`;
  return { ...object, metadata: { name: name || whole, ...rest } };
};

const act = async (tools: Tools, file: string, given: readonly string[], options: Options): Promise<void> => {
  const isFollowed = options.wait === true || options.watch === true;
  if (options.timeout !== undefined && !isFollowed)
    throw new Refused("--timeout is for --wait or --watch: add one of them");
  const path = options.propertiesFile;
  const properties =
    path === undefined
      ? ""
      : await readFile(path, "utf8").catch((cause: unknown) => {
          throw new Refused(`--properties-file ${path}: cannot be read`, { cause });
        });
  const object = applicationOf({ options, file, arguments: given, properties });
  if (options.output === "yaml") return tools.print(asDocuments([namedWhole(object)]));
  if (options.output === "json") return tools.print(asJson(namedWhole(object)));
  await send(tools, object, options);
};

const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const withFlags = (command: Command): Command => {
  for (const row of flags) {
    const option = new Option(row.flag, row.is === "refused" ? row.because : row.says);
    command.addOption(row.is === "refused" ? option.hideHelp() : option);
  }
  return command;
};

export const submit = (tools: Tools): Command =>
  withFlags(onNamespace("submit"))
    .description("Takes spark-submit's flags and creates a SparkApplication; no Spark is needed here.")
    .argument("<file>", "jar, .py or .R of the application: local:///… in the image, or a URL")
    .argument("[arguments...]", "arguments of the application")
    .option("--master <url>", "k8s://…, or leave it out: --context selects the cluster")
    .option("--deploy-mode <mode>", "cluster")
    .option("--name <name>", "prefix of the application's name; the API server appends a suffix")
    .option("-c, --conf <key=value>", "a conf of Spark; may be repeated", several)
    .option("--properties-file <file>", "confs, as in spark-defaults.conf")
    .option("--image <image>", "image of driver and executors, or --conf spark.kubernetes.container.image")
    .option("--spark-version <version>", "Spark's version, if the image's tag does not name it")
    .option("--service-account <name>", "service account of the driver")
    .option("--application <name>", "the full name of the application")
    .option("--label <key=value>", "label of the application and its pods; may be repeated", several)
    .addOption(new Option("--restart <policy>", "its restart policy").choices(["Never", "OnFailure", "Always"]))
    .option("--ttl <seconds>", "delete the application this long after its end", Number)
    .option("--wait", "wait until it has ended: exit code 3 if it failed")
    .option("--watch", "the same, with the driver's log")
    .addOption(timeoutOption())
    .addOption(outputOption("name", "yaml", "json").default(undefined))
    .passThroughOptions()
    .action((file: string, given: readonly string[], options: Options) => act(tools, file, given, options));
