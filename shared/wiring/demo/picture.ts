/** The small picture under the timeline: the application, its pods and the functions, as the reader knows them. */
import { checkpointName } from "../../adapters/checkpoints/object.ts";
import type { Stored } from "../../core/object.ts";
import {
  applicationNamed,
  applications,
  applicationView,
  type PodView,
  podsOf,
  recordNamed,
  recordView,
  type Scene,
} from "./scene.ts";
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

/** How a pod looks: its sign, and its colour. */
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

const waitsFor = (scene: Scene, application: Stored): string => {
  const record = recordNamed(scene, checkpointName(applications.kind, application.metadata.name));
  const waits = record === undefined ? "" : (recordView(record)?.waitsFor ?? "");
  return waits === "" ? "" : `waits for ${waits}`;
};

/** The rows for one application; without one, of what is waited for. */
export const pictureOf = (scene: Scene, name: string | undefined, figures: Figures): readonly Row[] => {
  const { ms, invocations, killed, requests } = figures;
  const application = name === undefined ? undefined : applicationNamed(scene, name);
  const state = application === undefined ? "" : applicationView(application).state;
  const pods = application === undefined ? [] : podsOf(scene, application.metadata.uid);
  const executors = pods.filter(({ role }) => role === "executor").toSorted((a, b) => a.id - b.id);
  const turn = spinner[Math.floor(ms / beatMs) % spinner.length] ?? "";
  return [
    [["─".repeat(width), "dim"]],
    [
      [`  ${(name ?? "").padEnd(11)} `, "bold"],
      [`${name === undefined ? "nothing applied yet" : state || "new"}  `, stateColours[state] ?? "cyan"],
      [application === undefined ? "" : waitsFor(scene, application), "dim"],
    ],
    podRow(
      "driver",
      pods.filter(({ role }) => role === "driver"),
      (pod) => pod.name,
    ),
    podRow("executors", executors, executorLabel),
    [
      head("functions"),
      [`${invocations} invocations`],
      [killed === 0 ? "" : `, ${killed} killed`, "red"],
      [`   API ${requests} requests   `],
      [`${turn} ${secondsText(ms)}`, "cyan"],
    ],
  ];
};
