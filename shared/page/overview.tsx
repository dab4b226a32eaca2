/** Overview: what waits and for what, what failed lately, which queues are full. And the screens of queues, schedules and health. */
import { useEffect } from "preact/hooks";
import { Link, Panel, State, Table } from "./parts.tsx";
import { isSchedule } from "./query.ts";
import { all, health, queues, readHealth, serverNow } from "./store.ts";
import { briefly, grouped, kindText, moment, plural, visible } from "./text.ts";
import { keyOf, type QueueRow, type Row } from "./wire.ts";

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

const Name = ({ row }: { readonly row: Row }) => (
  <Link to={{ screen: "application", application: keyOf(row) }} class="name">
    <span class="muted">{visible(row.namespace)}/</span>
    {visible(row.name)}
  </Link>
);

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
          {plural(rows.filter(({ group }) => group === "running").length, "application")} running,{" "}
          {grouped(waiting.length)} waiting, {grouped(failed.length)} failed within 24 h
        </p>
      </div>
      <div class="columns">
        <Reasons title="Waiting, by reason" rows={waiting} state="waiting" empty="Nothing waits." />
        <Reasons title="Failed within 24 h" rows={failed} state="failed" empty="Nothing failed." />
        <Newest title="Longest waits" rows={waiting.toSorted((a, b) => a.since - b.since)} empty="Nothing waits." />
        <Newest title="Latest failures" rows={failed} empty="Nothing failed." />
        {losses.length === 0 ? undefined : <Newest title="Lost executors" rows={losses} empty="" />}
        {queues.value.length === 0 ? undefined : <QueuePanel />}
      </div>
    </main>
  );
};

const quantity = (text: string): number => {
  const [, amount = "0", unit = ""] = /^(\d+(?:\.\d+)?)(m|k|Ki|M|Mi|G|Gi|T|Ti)?$/.exec(text) ?? [];
  const sizes: Readonly<Record<string, number>> = {
    m: 1e-3,
    k: 1e3,
    M: 1e6,
    G: 1e9,
    T: 1e12,
    Ki: 2 ** 10,
    Mi: 2 ** 20,
    Gi: 2 ** 30,
    Ti: 2 ** 40,
  };
  return Number(amount) * (sizes[unit] ?? 1);
};

/** Queues below their parents, each with its depth. */
const tree = (rows: readonly QueueRow[], parent = "", depth = 0): readonly (readonly [QueueRow, number])[] =>
  rows
    .filter((one) => one.parent === parent && depth < 12)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((one) => [[one, depth] as const, ...tree(rows, one.name, depth + 1)]);

const Use = ({ row, resource }: { readonly row: QueueRow; readonly resource: string }) => {
  const [used = "0", limit] = [row.allocated[resource], row.capability[resource]];
  if (limit === undefined) return <>{used === "0" ? "" : used}</>;
  const share = Math.min(1, quantity(used) / Math.max(1e-9, quantity(limit)));
  return (
    <span class="use">
      <i style={{ width: `${share * 100}%` }} class={share >= 1 ? "full" : ""} />
      <span>
        {used} / {limit}
      </span>
    </span>
  );
};

const QueuePanel = () => (
  <Panel title="Queues">
    <Table
      label="Queues"
      heads={["Queue", "State", "Weight", "CPU", "Memory", "Wait", "Run"]}
      rows={tree(queues.value).map(([row, depth]) => [
        <span style={{ paddingLeft: `${depth * 16}px` }}>{visible(row.name)}</span>,
        visible(row.state),
        String(row.weight),
        <Use row={row} resource="cpu" />,
        <Use row={row} resource="memory" />,
        grouped(row.groups[0] + row.groups[1]),
        grouped(row.groups[2]),
      ])}
      empty="There are no queues here, or they are not yours to read."
    />
  </Panel>
);

export const Queues = () => (
  <main>
    <div class="title">
      <h1>Queues</h1>
    </div>
    <QueuePanel />
  </main>
);

const instantText = (text: string, now: number): string => (text === "" ? "" : moment(Date.parse(text), now));

export const Schedules = () => {
  const now = serverNow();
  const rows = all.value.filter(isSchedule).toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return (
    <main>
      <div class="title">
        <h1>Schedules</h1>
      </div>
      <Panel title="Schedules">
        <Table
          label="Schedules"
          heads={["State", "Name", "Kind", "Time table", "Next run", "Last run", "Waits for"]}
          rows={rows.map((row) => {
            const [table = "", next = "", last = ""] = row.next.split("\n");
            return [
              <State group={row.group} state={row.state} />,
              <Name row={row} />,
              kindText(row.kind),
              <span class="mono">{visible(table)}</span>,
              instantText(next, now),
              instantText(last, now),
              visible(row.waits),
            ];
          })}
          empty="There are no schedules."
        />
      </Panel>
    </main>
  );
};

const againMs = 2_000;

export const HealthScreen = () => {
  useEffect(() => {
    void readHealth();
    const timer = setInterval(() => void readHealth(), againMs);
    return () => clearInterval(timer);
  }, []);
  const found = health.value;
  const lines: readonly (readonly [string, string])[] =
    found === undefined
      ? []
      : [
          ["watches", found.ready ? "all have listed their objects" : "not all have listed their objects yet"],
          ["this process", `serves for ${briefly((found.now - found.startedAt) / 1_000)}`],
          ...(found.rows < 0 ? [] : [["rows", grouped(found.rows)] as const]),
          ["streams", grouped(found.streams)],
          ...(found.queue === undefined
            ? [["steps", "another process runs them"] as const]
            : [
                [
                  "steps",
                  `${found.queue.busy} running, ${grouped(found.queue.ready)} ready, ${grouped(found.queue.delayed)} later`,
                ] as const,
              ]),
          [
            "you",
            `${found.caller}${found.namespaces.length === 0 ? ", all namespaces" : `, ${found.namespaces.join(", ")}`}`,
          ],
        ];
  return (
    <main>
      <div class="title">
        <h1>Health</h1>
      </div>
      <Panel title="This process" class="facts">
        <dl>
          {lines.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{visible(value)}</dd>
            </div>
          ))}
        </dl>
      </Panel>
    </main>
  );
};
