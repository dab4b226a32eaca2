/** The screens beside the list: queues, schedules, records to be repaired, and the health of this process. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { mayAct, QueueCell } from "./actions.tsx";
import { isSchedule, kindText } from "./kinds.ts";
import { CommandLine, FactList, Name, Panel, State, Table } from "./parts.tsx";
import { all, broken, health, isLoaded, place, queues, readHealth, serverNow } from "./store.ts";
import { briefly, grouped, moment, visible } from "./text.ts";
import { keyOf, type QueueRow } from "./wire.ts";

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
  const [used, limit] = [row.allocated[resource], row.capability[resource]];
  if (used === undefined || limit === undefined)
    return (
      <>
        {used ?? "–"}
        {limit === undefined ? "" : ` / ${limit}`}
      </>
    );
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

/** A count of groups; "–": it is not known. */
const countText = (...counts: readonly number[]): string =>
  counts.every((one) => one < 0) ? "–" : grouped(counts.reduce((sum, one) => sum + Math.max(0, one), 0));

/** The queue whose groups are shown; "": none. */
const chosen = signal("");
/** The part that shows them, once it is loaded. */
const part = signal<{ readonly Groups: (of: { readonly queue: string }) => preact.JSX.Element } | undefined>(undefined);

const choose = (queue: string): void => {
  chosen.value = chosen.value === queue ? "" : queue;
  void import("./queue-groups.tsx").then(({ QueueGroups: Groups }) => {
    part.value = { Groups };
  });
};

/** The name of a queue, which shows what waits in it. */
const QueueName = ({ name }: QueueRow) =>
  place.value.screen !== "queues" || name === "root" ? (
    <span>{visible(name)}</span>
  ) : (
    <button type="button" class="plain" aria-expanded={chosen.value === name} onClick={() => choose(name)}>
      <u>{visible(name)}</u>
    </button>
  );

export const QueuePanel = ({ isAlone = false }: { readonly isAlone?: boolean }) => (
  <Panel title="Queues" isAlone={isAlone}>
    <Table
      label="Queues"
      heads={["Queue", "State", "Weight", "CPU", "Memory", "Wait", "Run", ...(mayAct() ? ["Actions"] : [])]}
      rows={tree(queues.value).map(([row, depth]) => [
        <span style={{ paddingLeft: `${depth * 16}px` }}>
          <QueueName {...row} />
        </span>,
        visible(row.state),
        String(row.weight),
        <Use row={row} resource="cpu" />,
        <Use row={row} resource="memory" />,
        countText(row.groups[0], row.groups[1]),
        countText(row.groups[2]),
        ...(mayAct() ? [<QueueCell row={row} key={row.name} />] : []),
      ])}
      empty="There are no queues here, or you may not read them."
    />
  </Panel>
);

export const Queues = () => {
  const loaded = part.value;
  return (
    <main>
      <div class="title">
        <h1>Queues</h1>
      </div>
      <QueuePanel isAlone />
      {loaded === undefined || chosen.value === "" ? undefined : <loaded.Groups queue={chosen.value} />}
    </main>
  );
};

const instantText = (text: string, now: number): string => (text === "" ? "" : moment(Date.parse(text), now));

export const Schedules = () => {
  const now = serverNow();
  const rows = all.value.filter(isSchedule).toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return (
    <main>
      <div class="title">
        <h1>Schedules</h1>
      </div>
      <Panel title="Schedules" isAlone>
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
          empty={isLoaded.value ? "There are no schedules." : "Reading the rows …"}
        />
      </Panel>
    </main>
  );
};

/** The command is one that a person types: the page writes nothing. */
export const Recovery = () => {
  const nowS = serverNow() / 1_000;
  return (
    <main>
      <div class="title">
        <h1>Recovery</h1>
        <p class="muted">
          Records that cannot be used. Rekindle writes nothing for their applications until they are repaired.
        </p>
      </div>
      <Panel title="Records to be repaired" isAlone>
        <Table
          label="Records to be repaired"
          heads={["State", "Name", "Waits for", "Since", "Command"]}
          rows={broken.value.map((row) => [
            <State group={row.group} state={row.state} />,
            <span class="tight">
              <Name row={row} />
            </span>,
            visible(row.waits),
            <span class="tight">{briefly(nowS - row.since)}</span>,
            <CommandLine text={row.repair} />,
          ])}
          empty={isLoaded.value ? "Every record can be used." : "Reading the rows …"}
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
          ...(found.standby ?? []).map((line) => ["standby", visible(line)] as const),
          ...(found.unheard ?? []).map((line) => ["changes", visible(line)] as const),
          ["watches", found.ready ? "all have listed their objects" : "not all have listed their objects yet"],
          ["this process", `serves for ${briefly((found.now - found.startedAt) / 1_000)}`],
          ...(found.rows < 0 ? [] : [["applications shown", grouped(found.rows)] as const]),
          ["streams", grouped(found.streams)],
          ...(found.queue === undefined
            ? [["steps", "run by another process"] as const]
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
      <Panel title="This process" class="facts health" isAlone>
        <FactList of={lines} />
      </Panel>
    </main>
  );
};
