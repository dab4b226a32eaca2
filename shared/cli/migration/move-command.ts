/**
 * `rekindle migrate NAME --to GROUP` as people type it: a report of each application, and with `--apply` the moves. All are paused
 * before the one wait for the steps that began earlier.
 */
import { asJson, asYaml } from "../../inspection/io/documents.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import type { Direction } from "../../kube/api-move.ts";
import type { Tools } from "../io/tools.ts";
import { finishMove, holdSource, quietMs } from "./move.ts";
import { absent, type Found, findMove, isBegun, type Judged, judgeMove, type Place, placeText } from "./move-state.ts";

type Options = {
  readonly namespace?: string;
  readonly to: string;
  readonly apply?: true;
  readonly yes?: true;
  readonly output: string;
};

/** A move with its judgement; undefined for one that is under way. */
type Report = { readonly found: Found; readonly judged: Judged | undefined };

const placeOf = (text: string, namespace: string): Place => {
  const [first = "", second, ...more] = text.split("/");
  if (first === "" || second === "" || more.length > 0) throw new Refused(`${text}: write NAME or NAMESPACE/NAME`);
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
};

const directionTo = async (tools: Tools, group: string): Promise<Direction> => {
  const direction = (await tools.directions())[group];
  if (direction === undefined) throw new Refused(`--to ${group}: there is no way into that API`);
  return direction;
};

const reportOf = async (session: Session, direction: Direction, place: Place): Promise<Report> => {
  const found = await findMove(session, direction, place);
  if (isBegun(found)) return { found, judged: undefined };
  if (found.source === undefined) throw absent(found);
  return { found, judged: await judgeMove(session, found) };
};

const section = (head: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`  ${head}`, ...lines.map((line) => `    ${line}`)];

const textOf = ({ found, judged }: Report): string => {
  const { direction } = found;
  const head = `${placeText(found)}: ${direction.from.group} to ${direction.to.group}`;
  if (judged === undefined) return `${head}\n  under way: --apply continues it`;
  const driver = judged.driver === undefined ? [] : [`  its driver pod ${judged.driver.metadata.name} stays`];
  return [
    head,
    ...driver,
    ...section("what will differ", judged.differs),
    ...section("what stands in the way", judged.blocks),
  ].join("\n");
};

const blocksIn = (reports: readonly Report[]): number =>
  reports.reduce((sum, { judged }) => sum + (judged?.blocks.length ?? 0), 0);

const printed = (reports: readonly Report[], command: string, output: string): string => {
  const data = Object.fromEntries(
    reports.map(({ found, judged }) => [
      placeText(found),
      judged === undefined
        ? { begun: true }
        : { object: judged.object, differs: judged.differs, blocks: judged.blocks },
    ]),
  );
  if (output === "json") return asJson(data);
  if (output === "yaml") return asYaml(data);
  const next = blocksIn(reports) === 0 ? [`nothing stands in the way: ${command} --apply`] : [];
  return [...reports.map(textOf), ...next].join("\n");
};

const refuseBlocked = (reports: readonly Report[]): void => {
  const count = blocksIn(reports);
  if (count > 0)
    throw new Refused(
      `${count === 1 ? "1 problem stands" : `${count} problems stand`} in the way, see above: nothing was changed`,
    );
};

const apply = async (session: Session, tools: Tools, reports: readonly Report[]): Promise<void> => {
  const context = { session, tools };
  const fresh = reports.filter(({ judged }) => judged !== undefined);
  for (const { found } of fresh) await holdSource(context, found);
  if (fresh.length > 0) {
    tools.print(`paused; waiting ${quietMs / 1_000} s for steps that began before`);
    await tools.sleep(quietMs);
  }
  for (const { found } of reports) {
    await finishMove(context, await findMove(session, found.direction, found));
    tools.print(`${placeText(found)}: moved; hosts that run the API ${found.direction.to.group} continue it`);
  }
};

/** Reports the moves, and carries them out where the user has said so. */
export const moveAll = async (
  session: Session,
  tools: Tools,
  names: readonly string[],
  options: Options,
): Promise<void> => {
  const direction = await directionTo(tools, options.to);
  const namespace = options.namespace ?? session.namespace ?? "default";
  const places = new Map(names.map((name) => placeOf(name, namespace)).map((place) => [placeText(place), place]));
  const reports: Report[] = [];
  for (const place of places.values()) reports.push(await reportOf(session, direction, place));
  const command = `rekindle migrate ${[...places.keys()].join(" ")} --to ${options.to}`;
  tools.print(printed(reports, command, options.apply === true ? "text" : options.output));
  refuseBlocked(reports);
  if (options.apply !== true) return;
  if (
    options.yes !== true &&
    !(await tools.confirm(`Move ${[...places.keys()].join(", ")} in ${session.context ?? session.server}?`))
  )
    throw new Refused("nothing was changed (--yes skips the question)");
  await apply(session, tools, reports);
};
