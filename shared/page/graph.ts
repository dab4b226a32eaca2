/** The places of a JobFlow's jobs in a drawing: each stands to the right of everything that it depends on. Pure. */
import type { FlowNode } from "./wire.ts";

/** The most jobs that are drawn; the list has all of them. */
export const mostDrawn = 200;

export type Spot = { readonly node: FlowNode; readonly column: number; readonly line: number };
export type Edge = { readonly from: Spot; readonly to: Spot };
export type GraphLayout = {
  readonly spots: readonly Spot[];
  readonly edges: readonly Edge[];
  readonly columns: number;
  readonly lines: number;
};

/** The columns of nodes by name: the longest way from a node without dependencies. A circle ends where it began. */
const columnsOf = (nodes: readonly FlowNode[]): ReadonlyMap<string, number> => {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const found = new Map<string, number>();
  const visiting = new Set<string>();
  const columnOf = (name: string): number => {
    const known = found.get(name);
    if (known !== undefined) return known;
    if (visiting.has(name)) return 0;
    visiting.add(name);
    const before = (byName.get(name)?.dependsOn ?? []).filter((one) => byName.has(one)).map(columnOf);
    const column = before.length === 0 ? 0 : Math.max(...before) + 1;
    visiting.delete(name);
    found.set(name, column);
    return column;
  };
  for (const { name } of nodes) columnOf(name);
  return found;
};

/** Within a column a node stands near the nodes that it depends on, so that few edges cross. */
export const drawingOf = (all: readonly FlowNode[]): GraphLayout => {
  const nodes = all.slice(0, mostDrawn);
  const columns = columnsOf(nodes);
  const count = Math.max(0, ...columns.values()) + 1;
  const spots = new Map<string, Spot>();
  for (let column = 0; column < count; column += 1) {
    const wantedRow = ({ dependsOn }: FlowNode): number => {
      const lines = dependsOn.flatMap((name) => spots.get(name)?.line ?? []);
      return lines.length === 0 ? 0 : lines.reduce((sum, line) => sum + line, 0) / lines.length;
    };
    nodes
      .filter(({ name }) => columns.get(name) === column)
      .sort((a, b) => wantedRow(a) - wantedRow(b))
      .forEach((node, line) => void spots.set(node.name, { node, column, line }));
  }
  const edges = [...spots.values()].flatMap((to) =>
    to.node.dependsOn.flatMap((name) => {
      const from = spots.get(name);
      return from === undefined ? [] : [{ from, to }];
    }),
  );
  const lines = Math.max(0, ...[...spots.values()].map(({ line }) => line + 1));
  return { spots: [...spots.values()], edges, columns: count, lines };
};
