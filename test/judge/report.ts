/** The report: a table with a row for each controller. */
import { rowNames } from "./oracle.ts";
import type { Session } from "./session.ts";

export type Judged = { readonly subject: string; readonly version: string; readonly session: Session };

const rowOf = ({ subject, version, session }: Judged): readonly (string | number)[] => {
  const { cases, unfired, findings, unrepeated, seconds } = session;
  const counts = rowNames.map(
    (row) => findings.filter(({ problems }) => problems.some((one) => one.row === row)).length,
  );
  return [subject, version, cases, unfired, ...counts, unrepeated.length, Math.round(seconds)];
};

export const tableOf = (all: readonly Judged[]): string => {
  const head = ["controller", "version", "cases", "point not reached", ...rowNames, "not repeated", "seconds"];
  const lines = [head, head.map(() => "---"), ...all.map(rowOf)];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
};
