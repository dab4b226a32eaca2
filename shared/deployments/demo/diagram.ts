/** The diagram under the timeline: the application, its pods and the functions. */
import { checkpointName } from "../../adapters/checkpoints/object.ts";
import type { Kind } from "../../cli/kinds/kind.ts";
import type { Stored } from "../../core/object.ts";
import {
  applications,
  applicationView,
  newestIn,
  type ObservedCluster,
  otherKinds,
  type PodView,
  podsOf,
  podsOfKind,
  recordNamed,
  recordView,
} from "./observed-cluster.ts";
import { type Colour, type Piece, type Row, secondsText } from "./screen.ts";

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

const waitsFor = (scene: ObservedCluster, application: Stored): string => {
  const record = recordNamed(scene, checkpointName(applications.kind, application.metadata.name));
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

const ofApplication = (scene: ObservedCluster, application: Stored): Portrait => {
  const { name, uid } = application.metadata;
  const all = podsOf(scene, uid);
  const ofRole = (role: PodView["role"]) => all.filter((pod) => pod.role === role);
  const executors = ofRole("executor").toSorted((a, b) => a.id - b.id);
  return {
    name,
    state: applicationView(application).state || "new",
    waits: waitsFor(scene, application),
    pods: [podRow("driver", ofRole("driver"), (pod) => pod.name), podRow("executors", executors, executorLabel)],
  };
};

const ofOther = (scene: ObservedCluster, kind: Kind, object: Stored): Portrait => {
  const { name } = object.metadata;
  const { state, what } = kind.stateOf(object);
  const all = podsOfKind(scene, kind, name);
  return { name, state, waits: `waits for ${what.waitsFor}`, pods: [podRow("pods", all, (pod) => pod.name)] };
};

const nothing: Portrait = { name: "", state: "nothing applied yet", waits: "", pods: [podRow("pods", [], () => "")] };

const portraitOf = (scene: ObservedCluster): Portrait => {
  const object = newestIn(scene);
  if (object === undefined) return nothing;
  const kind = otherKinds.find(({ resource }) => resource.kind === object.kind);
  return kind === undefined ? ofApplication(scene, object) : ofOther(scene, kind, object);
};

/** Returns the rows for the newest object, or placeholders without one. */
export const pictureOf = (scene: ObservedCluster, figures: Figures): readonly Row[] => {
  const { ms, invocations, killed, requests } = figures;
  const { name, state, waits, pods } = portraitOf(scene);
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
