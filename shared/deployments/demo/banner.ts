/** The text around the timeline: the opening, the result, and the commands to try next. */
import type { Claim } from "./claims.ts";
import type { Figures } from "./diagram.ts";
import { exampleFile, moreExamples } from "./manifests.ts";
import { type Row, secondsText } from "./screen.ts";
import type { Served } from "./serve.ts";

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
export type Spelling = { readonly demo: string; readonly rekindle: string };

export const spellingIn = (env: Readonly<Record<string, string | undefined>>): Spelling =>
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

export const next = ({ demo, rekindle }: Spelling): readonly Row[] => [
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
const untold = (place: (file: string) => string): readonly Advice[] => [
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
  { rekindle }: Spelling,
  place: (file: string) => string,
  isTold: boolean,
): readonly Row[] => [
  blank,
  [["  The cluster is yours", "bold"], [" until Ctrl-C. In another terminal:"]],
  ...advice([
    [`export KUBECONFIG=${kubeconfig}`, ""],
    ...(isTold ? afterStory : untold(place)),
    ...moreExamples.map((file): Advice => [`kubectl apply -f ${place(file)}`, ""]),
    [`${rekindle} list`, "list every application with its state and what it waits for"],
    [`${rekindle} status default/spark-pi`, "what one waits for"],
  ]),
  blank,
];
