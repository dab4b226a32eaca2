/** Import cycles, type imports included: among files, and among the folders that hold them. */
import { dirname } from "node:path/posix";
import { importsOf } from "./sources.ts";

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

const reachable = (from: string, graph: Graph): ReadonlySet<string> => {
  const seen = new Set<string>();
  const next = [...(graph.get(from) ?? [])];
  for (let one = next.pop(); one !== undefined; one = next.pop())
    if (!seen.has(one)) {
      seen.add(one);
      next.push(...(graph.get(one) ?? []));
    }
  return seen;
};

/** Returns the groups of nodes that reach each other, each group once. */
export const circlesIn = (graph: Graph): readonly (readonly string[])[] => {
  const reach = new Map([...graph.keys()].map((node) => [node, reachable(node, graph)]));
  const inCircle = [...graph.keys()].filter((node) => reach.get(node)?.has(node));
  const groups = Map.groupBy(inCircle, (node) =>
    inCircle
      .filter((other) => reach.get(node)?.has(other) && reach.get(other)?.has(node))
      .toSorted()
      .join(" "),
  );
  return [...groups.values()];
};

export const circlesOf = (
  files: readonly string[],
): { readonly files: number; readonly folders: readonly string[] } => {
  const links = files.flatMap((from) =>
    importsOf(from).flatMap(({ to }) => (files.includes(to) ? [{ from, to }] : [])),
  );
  const graphBy = (nameOf: (file: string) => string): Graph => {
    const graph = new Map(files.map((file) => [nameOf(file), new Set<string>()]));
    for (const { from, to } of links) if (nameOf(from) !== nameOf(to)) graph.get(nameOf(from))?.add(nameOf(to));
    return graph;
  };
  return {
    files: circlesIn(graphBy((file) => file)).length,
    folders: circlesIn(graphBy(dirname)).map((folders) => folders.join(" ⇄ ")),
  };
};
