/** Overview: what waits and for what, what failed lately, which queues are full, what each namespace used. */
import { Link, Name, Panel, State, Table } from "./parts.tsx";
import { isSchedule } from "./query.ts";
import { hoursText } from "./receipt.ts";
import { QueuePanel } from "./screens.tsx";
import { all, costs, isLoaded, queues, serverNow } from "./store.ts";
import { briefly, grouped, plural, visible } from "./text.ts";
import type { Costs, Row, Used } from "./wire.ts";

const dayS = 86_400;

/** Reasons that differ in numbers and names only are one reason. */
const reasonOf = (text: string): string =>
  text
    .split(" ")
    .map((word) => (/\d/.test(word) ? "…" : word))
    .join(" ")
    .slice(0, 90);

type Tally = { readonly reason: string; readonly rows: readonly Row[] };

const tallied = (rows: readonly Row[]): readonly Tally[] => {
  const found = new Map<string, Row[]>();
  for (const row of rows) {
    const reason = reasonOf(row.waits === "" ? row.state : row.waits);
    found.set(reason, [...(found.get(reason) ?? []), row]);
  }
  return [...found].map(([reason, own]) => ({ reason, rows: own })).sort((a, b) => b.rows.length - a.rows.length);
};

const shown = 8;

const reasonText = ({ reason, rows }: Tally): string =>
  rows.length === 1 ? (rows[0]?.waits ?? reason) || reason : reason;

const Reasons = ({
  title,
  rows,
  state,
  empty,
}: {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly state: string;
  readonly empty: string;
}) => {
  const nowS = serverNow() / 1_000;
  const most = tallied(rows);
  const longest = Math.max(1, most[0]?.rows.length ?? 1);
  return (
    <Panel title={title} beside={<b class={`big ${state}-text`}>{grouped(rows.length)}</b>}>
      {most.length === 0 ? <p class="empty">{empty}</p> : undefined}
      <ul class="reasons">
        {most.slice(0, shown).map((one) => (
          <li key={one.reason}>
            <b>{grouped(one.rows.length)}</b>
            <Link to={{ screen: "applications", query: `since:24h state:${state}` }}>{visible(reasonText(one))}</Link>
            <span class="muted">{briefly(nowS - Math.min(...one.rows.map(({ since }) => since)))}</span>
            <i class={`share ${state}`} style={{ width: `${(one.rows.length / longest) * 100}%` }} />
          </li>
        ))}
      </ul>
    </Panel>
  );
};

const Newest = ({
  title,
  rows,
  empty,
}: {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly empty: string;
}) => {
  const nowS = serverNow() / 1_000;
  return (
    <Panel title={title}>
      <Table
        label={title}
        heads={["State", "Name", "Why", "Since"]}
        rows={rows
          .slice(0, shown)
          .map((row) => [
            <State group={row.group} state={row.state} />,
            <Name row={row} />,
            visible(row.waits),
            briefly(nowS - row.since),
          ])}
        empty={empty}
      />
    </Panel>
  );
};

const sumOf = (days: readonly Used[], of: keyof Used): number => days.reduce((sum, one) => sum + one[of], 0);

/** Money where prices are set, core-hours otherwise; "": nothing. */
const amountText = (days: readonly Used[], currency: string | undefined, isLost = false): string => {
  const hours = sumOf(days, isLost ? "lostCores" : "cores");
  if (hours === 0) return "";
  return currency === undefined
    ? `${hoursText(hours)} core-h`
    : `${hoursText(sumOf(days, isLost ? "lostCost" : "cost"))} ${currency}`;
};

/** The use of each namespace: today, on the days before, and in a week. */
const Usage = ({ of: { currency, days, rows, more } }: { readonly of: Costs }) => {
  const all = rows.flatMap((row) => row.days);
  const assumed = sumOf(all, "assumed");
  return (
    <Panel
      title="Used, by namespace"
      beside={
        <span class="muted">
          {amountText(all, currency)} in {days.length} days
        </span>
      }
    >
      <Table
        label="Used, by namespace"
        heads={["Namespace", "Today", "Yesterday", `${days.length} days`, "core-h", "GiB-h", "Lost, at most"]}
        rows={rows.map((row) => [
          visible(row.namespace),
          amountText(row.days.slice(0, 1), currency),
          amountText(row.days.slice(1, 2), currency),
          amountText(row.days, currency),
          hoursText(sumOf(row.days, "cores")),
          hoursText(sumOf(row.days, "gib")),
          amountText(row.days, currency, true),
        ])}
        empty="No pod has run."
      />
      <p class="note">
        Requests of pods times the time that they ran, by days of UTC since {days.at(-1)}
        {assumed === 0 || currency === undefined
          ? ""
          : `; the usual price for ${hoursText(assumed)} core-h on unknown nodes`}
        {more === 0 ? "" : `; ${plural(more, "namespace")} used less and ${more === 1 ? "is" : "are"} not shown`}.
      </p>
    </Panel>
  );
};

export const Overview = () => {
  const nowS = serverNow() / 1_000;
  const rows = all.value.filter((row) => !isSchedule(row));
  const waiting = rows.filter(({ group }) => group === "waiting" || group === "submitted" || group === "held");
  const failed = rows
    .filter(({ group, since }) => group === "failed" && nowS - since < dayS)
    .sort((a, b) => b.since - a.since);
  const losses = rows
    .filter(({ pods, group }) => pods[2] > 0 && group !== "completed")
    .sort((a, b) => b.pods[2] - a.pods[2]);
  return (
    <main class="overview">
      <div class="title">
        <h1>Overview</h1>
        <p class="muted">
          {isLoaded.value
            ? `${plural(rows.filter(({ group }) => group === "running").length, "application")} running, ${grouped(waiting.length)} waiting, ${grouped(failed.length)} failed within 24 h`
            : ""}
        </p>
      </div>
      {isLoaded.value ? undefined : <p class="empty">Reading the rows …</p>}
      <div class="columns" hidden={!isLoaded.value}>
        <Reasons title="Waiting, by reason" rows={waiting} state="waiting" empty="Nothing waits." />
        <Reasons title="Failed within 24 h" rows={failed} state="failed" empty="Nothing failed." />
        <Newest title="Longest waits" rows={waiting.toSorted((a, b) => a.since - b.since)} empty="Nothing waits." />
        <Newest title="Latest failures" rows={failed} empty="Nothing failed." />
        {losses.length === 0 ? undefined : <Newest title="Lost executors" rows={losses} empty="" />}
        {queues.value.length === 0 ? undefined : <QueuePanel />}
        {costs.value === undefined ? undefined : <Usage of={costs.value} />}
      </div>
    </main>
  );
};
