/** The pods of a Job as cells, and the jobs of a JobFlow as a graph and as a list. */
import { drawingOf, mostDrawn, type Spot } from "./graph.ts";
import { Link, Panel, State, Table } from "./parts.tsx";
import { queues } from "./store.ts";
import { grouped, plural, visible } from "./text.ts";
import type { Cell, FlowNode, Gang } from "./wire.ts";

const marks: Readonly<Record<Cell["group"], string>> = {
  running: "R",
  completed: "✓",
  failed: "×",
  waiting: "…",
  held: "–",
  submitted: "…",
  absent: "",
};

const words: Readonly<Record<Cell["group"], string>> = {
  running: "runs",
  completed: "has ended well",
  failed: "has failed",
  waiting: "waits",
  held: "is being deleted",
  submitted: "waits",
  absent: "is not there",
};

const cellText = (task: string, { index, group, why }: Cell): string =>
  visible(`${task} ${index} ${words[group]}${why === "" ? "" : `: ${why}`}`);

/** The queues from the root to this one, with what is used of it. */
const queueText = (name: string): string => {
  const rows = new Map(queues.value.map((row) => [row.name, row]));
  const path: string[] = [];
  for (let at = rows.get(name); at !== undefined && path.length < 12; at = rows.get(at.parent)) path.unshift(at.name);
  const used = rows.get(name)?.allocated["cpu"];
  const limit = rows.get(name)?.capability["cpu"];
  const use = used === undefined || limit === undefined ? "" : `, ${used} of ${limit} CPU used`;
  return `${path.length === 0 ? name : path.join(" > ")}${use}`;
};

/** Which pods of a gang run, which one holds it up, and where it stands. A cell opens the log of its pod. */
export const GangCells = ({ gang, open }: { readonly gang: Gang; readonly open: (pod: string) => void }) => {
  const late = gang.tasks.flatMap(({ task, cells }) =>
    cells.filter(({ why }) => why !== "").map((cell) => cellText(task, cell)),
  );
  return (
    <Panel
      title="Gang"
      class="gang"
      beside={
        <p class="muted">
          {gang.have} of at least {plural(gang.least, "pod")} · queue {visible(queueText(gang.queue))} · retries{" "}
          {gang.retries}/{gang.mostRetries}
        </p>
      }
    >
      <dl>
        {gang.tasks.map(({ task, cells }) => (
          <div key={task}>
            <dt>{visible(task)}</dt>
            <dd>
              {cells.map((cell) =>
                cell.pod === "" ? (
                  <span key={cell.index} class="cell absent" role="img" aria-label={cellText(task, cell)} />
                ) : (
                  <button
                    key={cell.index}
                    type="button"
                    class={`cell ${cell.group}`}
                    aria-label={`${cellText(task, cell)}: show its log`}
                    title={cellText(task, cell)}
                    onClick={() => open(cell.pod)}
                  >
                    {marks[cell.group]}
                  </button>
                ),
              )}
            </dd>
          </div>
        ))}
      </dl>
      {gang.more === 0 ? undefined : <p class="note">{grouped(gang.more)} more pods are not shown.</p>}
      {late.slice(0, 3).map((text) => (
        <p key={text} class="note">
          {text}
        </p>
      ))}
    </Panel>
  );
};

const box = { width: 168, height: 40, right: 44, below: 14 } as const;
const leftOf = ({ column }: Spot): number => column * (box.width + box.right) + 1;
const topOf = ({ line }: Spot): number => line * (box.height + box.below) + 1;

const fitted = (text: string): string => {
  const shown = visible(text);
  return shown.length > 24 ? `${shown.slice(0, 23)}…` : shown;
};

const stateText = ({ state, waits }: FlowNode): string =>
  state !== "" ? state : waits === "" ? "to be created" : `waits for ${waits}`;

const Node = ({ spot }: { readonly spot: Spot }) => {
  const { node } = spot;
  const drawn = (
    <g class={`node ${node.group}`} transform={`translate(${leftOf(spot)} ${topOf(spot)})`}>
      <title>{visible(`${node.name}: ${stateText(node)}`)}</title>
      <rect width={box.width} height={box.height} rx={7} />
      <text class="title" x={10} y={17}>
        {fitted(node.name)}
      </text>
      <text x={10} y={32}>
        {fitted(stateText(node))}
      </text>
    </g>
  );
  if (node.state === "") return drawn;
  return <Link to={{ screen: "application", application: node.job }}>{drawn}</Link>;
};

/** The jobs of a flow: drawn from left to right, and listed. */
export const FlowGraph = ({ nodes }: { readonly nodes: readonly FlowNode[] }) => {
  const { spots, edges, columns, lines } = drawingOf(nodes);
  const width = columns * (box.width + box.right) - box.right + 2;
  const height = lines * (box.height + box.below) + 2;
  return (
    <Panel title="Flow" class="flow" beside={<p class="muted">{plural(nodes.length, "job")}</p>}>
      <div class="scroll graph" tabIndex={0} role="group" aria-label="Graph of the flow">
        <svg width={width} height={Math.max(0, height)} role="group" aria-label="Jobs of the flow">
          {edges.map(({ from, to }) => {
            const [x, y] = [leftOf(from) + box.width, topOf(from) + box.height / 2];
            const [endX, endY] = [leftOf(to), topOf(to) + box.height / 2];
            const middle = (x + endX) / 2;
            // An edge past other columns bends below the boxes that it would cross.
            const bend = to.column - from.column > 1 ? box.height : 0;
            return (
              <path
                key={`${from.node.name} ${to.node.name}`}
                class={from.node.state === "Completed" ? "edge done" : "edge"}
                d={`M${x} ${y}C${middle} ${y + bend} ${middle} ${endY + bend} ${endX} ${endY}`}
              />
            );
          })}
          {spots.map((spot) => (
            <Node key={spot.node.name} spot={spot} />
          ))}
        </svg>
      </div>
      {nodes.length <= mostDrawn ? undefined : (
        <p class="note">{grouped(nodes.length - mostDrawn)} more jobs are in the list alone.</p>
      )}
      <Table
        label="Jobs of the flow"
        heads={["State", "Job", "After", "Waits for"]}
        rows={nodes.map((node) => [
          <State group={node.group} state={node.state === "" ? "to be created" : node.state} />,
          node.state === "" ? (
            visible(node.name)
          ) : (
            <Link to={{ screen: "application", application: node.job }}>{visible(node.name)}</Link>
          ),
          visible(node.dependsOn.join(", ")),
          visible(node.waits),
        ])}
        empty="The flow has no jobs."
      />
    </Panel>
  );
};
