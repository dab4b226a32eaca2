/** Overview: what waits and for what, what failed lately, which queues are full, what each namespace used. */

import { isSchedule } from "./kinds.ts";
import { Link, Name, Panel, State, Table } from "./parts.tsx";
import { hoursText } from "./receipt.ts";
import { QueuePanel } from "./screens.tsx";
import { all, costs, isLoaded, queues, serverNow } from "./store.ts";
import { briefly, grouped, plural, visible } from "./text.ts";
import { type Costs, keyOf, type Row, type Used } from "./wire.ts";

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
/** The most applications that are named under one reason. */
const named = 3;

const reasonText = ({ reason, rows }: Tally): string =>
  rows.length === 1 ? (rows[0]?.waits ?? reason) || reason : reason;

type Reasoned = {
  readonly title: string;
  /** In the order in which they are named. */
  readonly rows: readonly Row[];
  readonly state: "waiting" | "failed";
  readonly empty: string;
};

/** The names of those with one reason, and how long it is so. */
const Names = ({ of: { rows }, state }: { readonly of: Tally; readonly state: string }) => (
  <span class="names">
    {rows.slice(0, named).map((row) => (
      <Name key={keyOf(row)} row={row} />
    ))}
    {rows.length > named ? (
      <Link to={{ screen: "applications", query: `since:24h state:${state}` }}>
        and {grouped(rows.length - named)} more
      </Link>
    ) : undefined}
  </span>
);

const Reasons = ({ title, rows, state, empty }: Reasoned) => {
  const nowS = serverNow() / 1_000;
  const most = tallied(rows);
  const longest = Math.max(1, most[0]?.rows.length ?? 1);
  return (
    <Panel
      title={title}
      beside={<b class={`big ${rows.length === 0 ? "muted" : `${state}-text`}`}>{grouped(rows.length)}</b>}
    >
      {most.length === 0 ? <p class="empty">{empty}</p> : undefined}
      <ul class="reasons">
        {most.slice(0, shown).map((one) => (
          <li key={one.reason}>
            <b>{grouped(one.rows.length)}</b>
            <span class="reason" title={visible(reasonText(one))}>
              {visible(reasonText(one))}
            </span>
            <span class="muted tight">{briefly(nowS - Math.min(...one.rows.map(({ since }) => since)))}</span>
            <Names of={one} state={state} />
            <i class={`share ${state}`} style={{ width: `${(one.rows.length / longest) * 100}%` }} />
          </li>
        ))}
      </ul>
      {most.length > shown ? (
        <p class="note">{plural(most.length - shown, "further reason")} in the list.</p>
      ) : undefined}
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
  const of = (group: Row["group"]): readonly Row[] => rows.filter((row) => row.group === group);
  const waiting = of("waiting").toSorted((a, b) => a.since - b.since);
  const failed = of("failed")
    .filter(({ since }) => nowS - since < dayS)
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
            ? `${plural(of("running").length, "application")} running, ${grouped(waiting.length)} waiting, ${grouped(failed.length)} failed within 24 h`
            : ""}
        </p>
      </div>
      {isLoaded.value ? undefined : <p class="empty">Reading the rows …</p>}
      <div class="columns" hidden={!isLoaded.value}>
        <Reasons title="Waiting, the longest first" rows={waiting} state="waiting" empty="Nothing waits." />
        <Reasons title="Failed within 24 h" rows={failed} state="failed" empty="Nothing failed." />
        {losses.length === 0 ? undefined : <Newest title="Lost executors" rows={losses} empty="" />}
      </div>
      {isLoaded.value && queues.value.length > 0 ? <QueuePanel /> : undefined}
      {isLoaded.value && costs.value !== undefined ? <Usage of={costs.value} /> : undefined}
    </main>
  );
};
