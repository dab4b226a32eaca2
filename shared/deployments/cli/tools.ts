/** The command line's tools: connections, previews, files of the package, the terminal. */

import { readdir, readFile } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Preview, ServerChoice, Tools } from "../../cli/io/tools.ts";
import type { Line } from "../../core/annotation.ts";
import type { Key } from "../../core/key.ts";
import { waitOf, waitsForText } from "../../core/plan.ts";
import type { Session } from "../../inspection/io/session.ts";
import { type Paint, paintFor, printable, wantsColour } from "../../inspection/io/text.ts";

export type CommandLine = {
  /** The package's root, with infra/crds and package.json. */
  readonly root: URL;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly host: Tools["host"];
  readonly demo: Tools["demo"];
};

const connect = async (env: CommandLine["env"], { kubeconfig, context, server }: ServerChoice): Promise<Session> => {
  const { clusterFromRecord, findCluster } = await import("../../adapters/kubernetes/kubeconfig.ts");
  const record = await findCluster({ path: kubeconfig, context, server, env });
  const { transport } = clusterFromRecord(record);
  const [{ openTable }, { settingsForCli }] = await Promise.all([
    import("./copy-records.ts"),
    import("../settings/read.ts"),
  ]);
  const { prices, controllerNamespaces } = settingsForCli(env);
  return {
    transport,
    server: record.endpoint.server,
    authority: record.endpoint.ca,
    context: record.context,
    namespace: record.namespace,
    table: openTable(env),
    ...{ prices, controllerNamespaces },
    controllers: async (group) => {
      const { controllerSigns } = await import("./controllers.ts");
      return await controllerSigns(transport, group, controllerNamespaces);
    },
    passage: async (leading, local) => {
      const { openPortForward } = await import("../../adapters/kubernetes/port-forward.ts");
      return openPortForward(record.endpoint, leading, local);
    },
    close: () => transport.close(),
  };
};

const preview = async (session: Session, key: Key): Promise<Preview> => {
  const { preview: find } = await import("./recover.ts");
  const found = await find(session, key);
  if (found.would !== "plan") return found;
  const { stages, status, memory, next } = found.plan;
  const { wakeAt } = waitOf(found.plan);
  const waitsFor = waitsForText(found.plan);
  return { would: "plan", stages, status, memory, waitsFor, wakeAt, again: next.do === "again" };
};

/** Reads the CRDs of all families from their files, which are named `group_plural.yaml`. */
const crds = async (root: URL): ReturnType<Tools["crds"]> => {
  const found = ["infra/crds/", "infra/optional-crds/"].map(async (name) => {
    const folder = new URL(name, root);
    const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(".yaml")).sort();
    const texts = files.map(async (file) => ({
      group: basename(file).split("_")[0] ?? "",
      text: await readFile(new URL(file, folder), "utf8"),
    }));
    return Promise.all(texts);
  });
  return (await Promise.all(found)).flat();
};

/** Reads the pages of the documentation, with README first. */
const pages = async (root: URL): ReturnType<Tools["pages"]> => {
  const below = async (folder: string): Promise<readonly string[]> =>
    (await readdir(new URL(folder, root), { recursive: true }))
      .filter((file) => file.endsWith(".md"))
      .sort()
      .map((file) => `${folder}${file.replaceAll("\\", "/")}`);
  const paths = ["README.md", ...(await below("infra/docs/")), ...(await below("shared/docs/")), "CHANGELOG.md"];
  return await Promise.all(paths.map(async (path) => ({ path, text: await readFile(new URL(path, root), "utf8") })));
};

const confirm = async (question: string): Promise<boolean> => {
  if (!process.stdin.isTTY) return false;
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
};

const versionIn = async (root: URL): Promise<string> => {
  const found: unknown = JSON.parse(await readFile(new URL("package.json", root), "utf8"));
  const isVersioned = typeof found === "object" && found !== null && "version" in found;
  return isVersioned && typeof found.version === "string" ? found.version : "0.0.0";
};

/** Exits with code 0 when the reader of the output stops reading, as `head` does. */
const endWithReader = (): void => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
};

/** Colours failures and warnings; a text of several lines is help, and stays plain. */
const warned = (text: string, paint: Paint): string => {
  if (/^(rekindle|error): /.test(text)) return text.replace(/^\w+:/, (head) => paint("bad", head));
  return text.includes("\n") ? text : paint("wait", text);
};

/** Opens input and output on this terminal. */
const terminal = (
  env: CommandLine["env"],
): Pick<Tools, "paint" | "print" | "warn" | "confirm" | "now" | "sleep" | "stdin" | "stopped"> => {
  endWithReader();
  const [inColour, warnsInColour] = [wantsColour(env, process.stdout.isTTY), wantsColour(env, process.stderr.isTTY)];
  return {
    paint: paintFor(inColour),
    print: (text) => process.stdout.write(`${printable(text, inColour)}\n`),
    warn: (text) => process.stderr.write(`${printable(warned(text, paintFor(warnsInColour)), warnsInColour)}\n`),
    confirm,
    now: Date.now,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    stopped: () =>
      new Promise((resolve) => {
        process.once("SIGINT", resolve);
        process.once("SIGTERM", resolve);
      }),
    stdin: async () => (await import("node:stream/consumers")).text(process.stdin),
  };
};

/** Loads the forecasts on demand: most commands need no code of Spark. */
const forecasts = async (): Promise<typeof import("./render.ts")> => await import("./render.ts");

/** The confs of the setting `sparkDefaults`, as the hosts of the migration will have them. */
const confDefaults = async (env: CommandLine["env"]): Promise<Readonly<Record<string, string>>> =>
  (await import("../settings/read.ts")).settingsForCli(env).sparkDefaults;

/** Opens the tools of all commands. */
export const openTools = async ({ root, env, host, demo }: CommandLine): Promise<Tools> => ({
  ...terminal(env),
  version: await versionIn(root),
  connect: (where) => connect(env, where),
  runs: async () => (await forecasts()).runs,
  forecast: async (object) => (await forecasts()).forecast(object, await confDefaults(env)),
  policies: async () => {
    const [{ policyLines }, { connectAnnotationLines }, { annotationPolicyLines }, { flowAnnotationLines }] =
      await Promise.all([
        import("../../spark/application/spec/policies.ts"),
        import("../../spark/connect/idle.ts"),
        import("../../volcano/job/annotations.ts"),
        import("../../volcano/flow/retries.ts"),
      ]);
    const of = (kind: string, lines: readonly Line[]) => lines.map((line) => ({ kind, ...line }));
    return [
      ...of("SparkApplication", policyLines()),
      ...connectAnnotationLines(),
      ...of("Job", annotationPolicyLines()),
      ...flowAnnotationLines(),
    ];
  },
  flag: async (text, family) => (await forecasts()).flagView(text, family),
  preview,
  replay: async (text) => (await import("./recover.ts")).replayLines(text),
  page: async (session, options) => (await import("../page/local.ts")).openPersonalPage(session, options),
  recover: async (session, key, how) => {
    const { recoverKey } = await import("./recover.ts");
    return await recoverKey(session, key, how, (ms) => sleep(ms));
  },
  move: async function* (session, move) {
    const { moveRecords } = await import("./copy-records.ts");
    yield* moveRecords(session.transport, move);
  },
  directions: async () => (await import("../../spark/apache/translation/directions.ts")).directions,
  carryRecord: async (...given) => (await import("./carry-record.ts")).carryRecord(...given),
  render: async (object, how) => (await import("./render.ts")).render(object, how),
  check: async (object) => (await forecasts()).check(object),
  crds: () => crds(root),
  pages: () => pages(root),
  host,
  demo,
});
