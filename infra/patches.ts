/** Differences between objects, as operations of JSON Patch (RFC 6902), for kustomizations that change another one. */
import { isRecord } from "../shared/core/json.ts";

export type Operation = { readonly op: "add" | "remove" | "replace"; readonly path: string; readonly value?: unknown };

const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

const text = (value: unknown): string => JSON.stringify(value);

/** Returns the longest sequence of elements, by their texts, that both lists have in this order. */
const commonOf = (before: readonly string[], after: readonly string[]): readonly string[] => {
  const lengths = before.map(() => after.map(() => 0));
  const at = (row: number, column: number): number => lengths[row]?.[column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1) {
      const same = before[row] === after[column];
      const length = same ? 1 + at(row + 1, column + 1) : Math.max(at(row + 1, column), at(row, column + 1));
      lengths[row]?.splice(column, 1, length);
    }
  const common: string[] = [];
  for (let [row, column] = [0, 0]; row < before.length && column < after.length; ) {
    if (before[row] === after[column]) {
      common.push(before[row] ?? "");
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return common;
};

/** Removes, from the last on, what goes, and then inserts, from the first on, what comes. */
const listOperations = (before: readonly unknown[], after: readonly unknown[], path: string): readonly Operation[] => {
  const common = commonOf(before.map(text), after.map(text));
  const others = (list: readonly unknown[]): readonly number[] => {
    let next = 0;
    return list.flatMap((value, index) => {
      if (text(value) !== common[next]) return [index];
      next += 1;
      return [];
    });
  };
  const removed = others(before).toReversed();
  return [
    ...removed.map((index) => ({ op: "remove", path: `${path}/${index}` }) as const),
    ...others(after).map((index) => ({ op: "add", path: `${path}/${index}`, value: after[index] }) as const),
  ];
};

/** Returns the operations that make `after` of `before`. */
export const operationsOf = (before: unknown, after: unknown, path = ""): readonly Operation[] => {
  if (text(before) === text(after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return listOperations(before, after, path);
  if (!isRecord(before) || !isRecord(after)) return [{ op: "replace", path, value: after }];
  const gone = Object.keys(before).filter((name) => !(name in after));
  return [
    ...gone.map((name) => ({ op: "remove", path: `${path}/${escaped(name)}` }) as const),
    ...Object.entries(after).flatMap(([name, value]) => {
      const below = `${path}/${escaped(name)}`;
      return name in before ? operationsOf(before[name], value, below) : [{ op: "add", path: below, value } as const];
    }),
  ];
};
