/**
 * The demo's output: the opening, lines that stay and, on a terminal, a diagram of application, pods and functions
 * under them that is drawn again; at the end the result, and the commands to try next.
 */
import { styleText } from "node:util";
import { checkpointName } from "../../adapters/checkpoints/kubernetes.ts";
import type { Stored } from "../../core/object.ts";
import { wantsColour } from "../../inspection/io/text.ts";
import { kindOf, usual } from "../../inspection/kinds/all.ts";
import type { Kind } from "../../inspection/kinds/kind.ts";
import { exampleFile, moreExamples, type Served } from "./cluster.ts";
import type { NarrationLine, Tone } from "./narration.ts";
import {
  applications,
  applicationView,
  type Claim,
  newestIn,
  type ObservedCluster,
  type PodView,
  podsOf,
  podsOfKind,
  recordNamed,
  recordView,
} from "./observed-cluster.ts";

type Colour = "red" | "green" | "yellow" | "cyan" | "magenta" | "blue" | "dim" | "bold";

/** A piece of a line in one colour. */
type Piece = readonly [text: string, colour?: Colour | undefined];
export type Row = readonly Piece[];

/** A stream of text: a terminal, or not. */
export type Output = {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
};

export type Screen = {
  /** Columns of a line; infinite where the output is no terminal. */
  width(): number;
  line(row: Row): void;
  /** Replaces the diagram; does nothing where the output is no terminal. */
  picture(rows: readonly Row[]): void;
  /** Removes the diagram, and shows the cursor again. */
  close(): void;
};

const painted = (row: Row, colours: boolean): string =>
  row
    .map(([text, colour]) =>
      colours && colour !== undefined ? styleText(colour, text, { validateStream: false }) : text,
    )
    .join("");

/** Cuts a row to the width of the terminal: a wrapped row could not be erased. */
const cut = (row: Row, width: number): Row => {
  let left = width;
  return row.map(([text, colour]): Piece => {
    const part = [...text].slice(0, left).join("");
    left -= [...part].length;
    return [part, colour];
  });
};

const csi = "\u001b[";
const hideCursor = `${csi}?25l`;
const showCursor = `${csi}?25h`;
const clearBelow = `${csi}J`;

const lively = (output: Output, colours: boolean): Screen => {
  let drawn = 0;
  let shown: readonly Row[] = [];
  const width = (): number => Math.max(40, (output.columns ?? 80) - 1);
  const erase = (): string => (drawn === 0 ? "" : `${csi}${drawn}A\r${clearBelow}`);
  const draw = (before: string): void => {
    const rows = shown.map((row) => `${painted(cut(row, width()), colours)}\n`);
    output.write(`${erase()}${before}${rows.join("")}`);
    drawn = rows.length;
  };
  output.write(hideCursor);
  return {
    width,
    line: (row) => draw(`${painted(row, colours)}\n`),
    picture: (rows) => {
      shown = rows;
      draw("");
    },
    close: () => {
      shown = [];
      draw("");
      output.write(showCursor);
    },
  };
};

const plain = (output: Output, colours: boolean): Screen => ({
  width: () => Number.POSITIVE_INFINITY,
  line: (row) => output.write(`${painted(row, colours)}\n`),
  picture: () => {},
  close: () => {},
});

/** Opens the screen. NO_COLOR and FORCE_COLOR are obeyed; a dumb terminal gets lines only. */
export const openScreen = (output: Output, env: Readonly<Record<string, string | undefined>>): Screen => {
  const terminal = output.isTTY === true && env["TERM"] !== "dumb";
  const colours = wantsColour(env, terminal);
  return terminal ? lively(output, colours) : plain(output, colours);
};

const toneColours: Readonly<Record<Tone, Colour | undefined>> = {
  plain: undefined,
  good: "green",
  bad: "red",
  faint: "dim",
};

const laneColours: Readonly<Record<NarrationLine["lane"], Colour>> = {
  demo: "cyan",
  application: "bold",
  checkpoint: "yellow",
  driver: "blue",
  executor: "blue",
  pod: "blue",
  event: "dim",
  function: "magenta",
};

/** Formats ms as seconds, to a tenth. */
const secondsText = (ms: number): string => `${(ms / 1_000).toFixed(1)}s`;

/** Wraps a text at words to lines of the width; a longer word has a line of its own. */
const wrapped = (text: string, width: number): readonly string[] => {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
};

const margin = 21;

/** Returns an entry of the timeline as rows. */
export const timelineRows = (at: number, { lane, tone, text }: NarrationLine, width: number): readonly Row[] =>
  wrapped(text, width - margin).map(
    (line, index): Row => [
      [index === 0 ? `${secondsText(at).padStart(6)}  ` : " ".repeat(8), "dim"],
      [(index === 0 ? lane : "").padEnd(margin - 8), laneColours[lane]],
      [line, toneColours[tone]],
    ],
  );

export type Figures = {
  readonly ms: number;
  readonly invocations: number;
  readonly killed: number;
  readonly requests: number;
};

const spinner = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
const beatMs = 100;
const width = 72;

const stateColours: Readonly<Record<string, Colour>> = {
  COMPLETED: "green",
  FAILED: "red",
  FAILING: "red",
  SUBMISSION_FAILED: "red",
};

/** Returns the sign and the colour of a pod. */
const signOf = ({ exit, phase }: PodView): readonly [sign: string, colour: Colour] => {
  if (exit !== undefined) return exit === 0 ? ["✔", "green"] : ["✖", "red"];
  return phase === "Running" ? ["●", "green"] : ["○", "yellow"];
};

const podPieces = (pods: readonly PodView[], label: (pod: PodView) => string): readonly Piece[] =>
  pods.flatMap((pod): readonly Piece[] => {
    const [sign, colour] = signOf(pod);
    return [
      [`${sign} `, colour],
      [`${label(pod)}   `, pod.exit === undefined ? undefined : "dim"],
    ];
  });

const head = (name: string): Piece => [`  ${name.padEnd(12)}`, "dim"];
const nothingYet: Piece = ["none yet", "dim"];

const podRow = (title: string, pods: readonly PodView[], label: (pod: PodView) => string): Row => [
  head(title),
  ...(pods.length === 0 ? [nothingYet] : podPieces(pods, label)),
];

const executorLabel = ({ id, exit }: PodView): string => `${id}${exit === undefined || exit === 0 ? "" : ` (${exit})`}`;

const waitsFor = (observed: ObservedCluster, application: Stored): string => {
  const record = recordNamed(observed, checkpointName(applications.kind, application.metadata.name));
  const waits = record === undefined ? "" : (recordView(record)?.waitsFor ?? "");
  return waits === "" ? "" : `waits for ${waits}`;
};

/** The shown parts of the newest object: name, state, wait and pods. */
type Portrait = {
  readonly name: string;
  readonly state: string;
  readonly waits: string;
  readonly pods: readonly Row[];
};

const ofApplication = (observed: ObservedCluster, application: Stored): Portrait => {
  const { name, uid } = application.metadata;
  const all = podsOf(observed, uid);
  const ofRole = (role: PodView["role"]) => all.filter((pod) => pod.role === role);
  const executors = ofRole("executor").toSorted((a, b) => a.id - b.id);
  return {
    name,
    state: applicationView(application).state || "new",
    waits: waitsFor(observed, application),
    pods: [podRow("driver", ofRole("driver"), (pod) => pod.name), podRow("executors", executors, executorLabel)],
  };
};

const ofOther = (observed: ObservedCluster, kind: Kind, object: Stored): Portrait => {
  const { name } = object.metadata;
  const { state, what } = kind.stateOf(object);
  const all = podsOfKind(observed, kind, name);
  return { name, state, waits: `waits for ${what.waitsFor}`, pods: [podRow("pods", all, (pod) => pod.name)] };
};

const nothing: Portrait = { name: "", state: "nothing applied yet", waits: "", pods: [podRow("pods", [], () => "")] };

const portraitOf = (observed: ObservedCluster): Portrait => {
  const object = newestIn(observed);
  if (object === undefined) return nothing;
  const kind = kindOf(object);
  return kind === undefined || kind === usual ? ofApplication(observed, object) : ofOther(observed, kind, object);
};

/** Returns the rows for the newest object, or placeholders without one. */
export const pictureOf = (observed: ObservedCluster, figures: Figures): readonly Row[] => {
  const { ms, invocations, killed, requests } = figures;
  const { name, state, waits, pods } = portraitOf(observed);
  const turn = spinner[Math.floor(ms / beatMs) % spinner.length] ?? "";
  return [
    [["─".repeat(width), "dim"]],
    [
      [`  ${name.padEnd(11)} `, "bold"],
      [`${state}  `, stateColours[state.toUpperCase()] ?? "cyan"],
      [waits, "dim"],
    ],
    ...pods,
    [
      head("functions"),
      [`${invocations} invocations`],
      [killed === 0 ? "" : `, ${killed} killed`, "red"],
      [`   API ${requests} requests   `],
      [`${turn} ${secondsText(ms)}`, "cyan"],
    ],
  ];
};

const blank: Row = [];

/** `page`: address of the page. */
export const opening = (page: string): readonly Row[] => [
  [["  Rekindle", "bold"], [": Spark on Kubernetes, run by functions that may be killed at any time"]],
  [["  The engine is the real one. Cluster and Spark are simulated, in real time.", "dim"]],
  [
    [
      "  Every line is read from the API, except those of demo and function: the demo reports what it does itself.",
      "dim",
    ],
  ],
  [["  The page shows the same in a browser: "], [page, "cyan"]],
  blank,
];

const claimRow = ({ claim, holds, found }: Claim): Row => [
  holds ? ["  ✔ ", "green"] : ["  ✖ ", "red"],
  [claim.padEnd(41), holds ? undefined : "red"],
  [found, "dim"],
];

/** Returns the result: the claims and the figures. */
export const closing = (claims: readonly Claim[], figures: Figures): readonly Row[] => {
  const { ms, invocations, killed, requests } = figures;
  const failed = claims.filter(({ holds }) => !holds).length;
  return [
    blank,
    ...claims.map(claimRow),
    blank,
    [[`  ${secondsText(ms)}, ${invocations} invocations (${killed} killed), ${requests} API requests`]],
    ...(failed === 0 ? [] : [[[`  ${failed} of ${claims.length} claims did not hold`, "red"]] satisfies Row]),
  ];
};

/** The spelling of commands, which follows that of the demo's own call. */
export type CommandNames = { readonly demo: string; readonly rekindle: string };

export const spellingIn = (env: Readonly<Record<string, string | undefined>>): CommandNames =>
  env["npm_lifecycle_event"] === "demo"
    ? { demo: "npm run demo --", rekindle: "npx rekindle" }
    : { demo: "rekindle demo", rekindle: "rekindle" };

type Advice = readonly [command: string, why: string];

const advice = (rows: readonly Advice[]): readonly Row[] => {
  const width = Math.max(...rows.map(([command]) => command.length)) + 3;
  return rows.map(
    ([command, why]): Row => [
      [`    ${why === "" ? command : command.padEnd(width)}`, "cyan"],
      [why, "dim"],
    ],
  );
};

export const next = ({ demo, rekindle }: CommandNames): readonly Row[] => [
  blank,
  [["  Next", "bold"]],
  ...advice([
    [`${demo} --serve`, "keeps this cluster up, for kubectl"],
    [`${rekindle} host --dry-run`, "on your cluster: prints what it would do, and writes nothing"],
    [`${rekindle} manifests`, "what to install there"],
    [`${rekindle} --help`, "every command; README.md has the rest"],
  ]),
];

/** Commands after the story, about the objects that it left. */
const afterStory: readonly Advice[] = [
  ["kubectl get sparkapplications,pods", ""],
  ["kubectl describe sparkapplication spark-pi", "its events"],
  ["kubectl logs -f spark-pi-driver", ""],
  ["kubectl get checkpoints -o yaml", "the records, which are all that Rekindle stores"],
  ["kubectl delete sparkapplication spark-pi", "deletes its pods, services and record, too"],
];

/** Commands without the story: nothing is applied yet. */
const withoutStory = (place: (file: string) => string): readonly Advice[] => [
  [`kubectl apply -f ${place(exampleFile)}`, "starts the application"],
  ["kubectl delete pod spark-pi-driver", "while it runs: another attempt follows"],
];

/** Returns the address and the kubeconfig of the cluster, which stays up; printed as soon as it is up. */
export const served = ({ url, kubeconfig }: Served): readonly Row[] => [
  [["  The cluster stays up", "bold"], [` at ${url} until Ctrl-C. In another terminal, from now on:`]],
  ...advice([[`export KUBECONFIG=${kubeconfig}`, ""]]),
  blank,
];

/** Returns commands to try on the cluster that stays up. `place` returns the path of a file of the package. */
export const serving = (
  { kubeconfig }: Served,
  { rekindle }: CommandNames,
  place: (file: string) => string,
  isReported: boolean,
): readonly Row[] => [
  blank,
  [["  The cluster is yours", "bold"], [" until Ctrl-C. In another terminal:"]],
  ...advice([
    [`export KUBECONFIG=${kubeconfig}`, ""],
    ...(isReported ? afterStory : withoutStory(place)),
    ...moreExamples.map((file): Advice => [`kubectl apply -f ${place(file)}`, ""]),
    [`${rekindle} list`, "list every application with its state and what it waits for"],
    [`${rekindle} status default/spark-pi`, "what one waits for"],
  ]),
  blank,
];
