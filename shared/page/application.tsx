/** One application: why it is not done, what was lost and what came instead, its attempts, events, spec and record. */
import type { ComponentChildren } from "preact";
import { ActionAnswered, ApplicationActions } from "./actions.tsx";
import { LogEnd, Runs } from "./driver-logs.tsx";
import { kindText, nameInCommands } from "./kinds.ts";
import { FlowGraph, GangCells } from "./members.tsx";
import { chosen, showLog } from "./panels.ts";
import { CommandLine, FactList, Link, State, Table } from "./parts.tsx";
import { quotaReceiptOf, quotaText, receiptOf, usedText } from "./receipt.ts";
import { detail, now, place } from "./store.ts";
import { briefly, moment, plural, span, stateText, visible } from "./text.ts";
import { slotsOf } from "./timeline.ts";
import { Timeline } from "./timeline-view.tsx";
import { type Detail, keyOf, type LossRow } from "./wire.ts";

type Tab = readonly [title: string, count: number | undefined, view: () => ComponentChildren];

/** `usual`: the title of the tab that is shown before one is chosen; absent: the first that has something. */
type Tabbed = { readonly side: keyof typeof chosen; readonly tabs: readonly Tab[]; readonly usual?: string };

const Tabs = ({ side, tabs, usual }: Tabbed) => {
  const titled = (wanted: string | undefined): Tab | undefined => tabs.find(([title]) => title === wanted);
  const filled = tabs.find(([, count]) => count !== undefined && count > 0);
  const current = titled(chosen[side].value) ?? titled(usual) ?? filled ?? tabs[0];
  return (
    <section class="panel tabbed">
      <div class="tabs" role="tablist" aria-label={side === "left" ? "What happened" : "What was asked for"}>
        {tabs.map(([title, count]) => (
          <button
            key={title}
            type="button"
            role="tab"
            id={`tab-${title}`}
            aria-selected={current?.[0] === title}
            aria-controls={`panel-${side}`}
            onClick={() => {
              chosen[side].value = title;
            }}
          >
            {title} {count === undefined ? "" : count}
          </button>
        ))}
      </div>
      <div class="tab" role="tabpanel" id={`panel-${side}`} aria-labelledby={`tab-${current?.[0] ?? ""}`}>
        {current?.[2]()}
      </div>
    </section>
  );
};

const Text = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <pre tabIndex={0} role="region" aria-label={label}>
    {visible(text)}
  </pre>
);

/** The executor that came in place of each lost one, by the pod's order in its slot. */
const successors = (one: Detail): ReadonlyMap<number, { readonly id: number; readonly at: number | undefined }> => {
  const found = new Map<number, { readonly id: number; readonly at: number | undefined }>();
  for (const { lanes } of slotsOf(one.lanes.filter(({ role }) => role === "executor")))
    for (const { id, follows, up } of lanes) if (follows !== undefined) found.set(follows, { id, at: up });
  return found;
};

const lossCells = (loss: LossRow, one: Detail, next: ReturnType<typeof successors>): readonly ComponentChildren[] => {
  const successor = next.get(loss.id);
  const gap = successor?.at === undefined ? undefined : (successor.at - loss.at) / 1_000;
  return [
    <>
      <b>{loss.id}</b> <span class="muted">{moment(loss.at, one.now)}</span>
    </>,
    <span class="failed-text">
      {visible(loss.reason)} {loss.exit === undefined ? "" : loss.exit}
    </span>,
    <span class="mono">{visible(loss.node)}</span>,
    successor === undefined ? "" : String(successor.id),
    gap === undefined ? "" : span(Math.max(0, gap)),
  ];
};

const Losses = ({ one }: { readonly one: Detail }) => {
  const next = successors(one);
  const { losses } = one;
  const last = losses.at(-1);
  return (
    <>
      <Table
        label="Losses"
        heads={["Executor", "Why", "Node", "Replaced by", "Gap"]}
        rows={losses.toReversed().map((loss) => lossCells(loss, one, next))}
        empty="No executor of this run was lost."
      />
      {last === undefined || last.why === "" ? undefined : (
        <p class="note">
          <b>Executor {last.id}</b> {visible(last.why)}
        </p>
      )}
    </>
  );
};

const Events = ({ one }: { readonly one: Detail }) => (
  <>
    {one.eventsError === "" ? undefined : <p class="note">Events cannot be read: {visible(one.eventsError)}</p>}
    <Table
      label="Events"
      heads={["When", "Reason", "Message"]}
      rows={one.events.toReversed().map(({ at, type, reason, about, message, count }) => [
        <span class="muted">{moment(at, one.now)}</span>,
        <span class={type === "Warning" ? "failed-text" : ""}>
          {visible(reason)}
          {count > 1 ? ` ×${count}` : ""}
          <br />
          <span class="mono muted" title={visible(about)}>
            {visible(about)}
          </span>
        </span>,
        visible(message),
      ])}
      empty="No events: the cluster keeps them for about an hour."
    />
  </>
);

const Updates = ({ one }: { readonly one: Detail }) => {
  const { updates } = one;
  if (updates === undefined) return <p class="empty">This application has no listener for status updates.</p>;
  if (updates.waiting === 0) return <p class="empty">All status updates are acknowledged.</p>;
  return (
    <p class="note">
      <b>{plural(updates.waiting, "update")} not acknowledged</b> since {moment(updates.since, one.now)}, after{" "}
      {plural(updates.tries, "try").replace("trys", "tries")}
      {updates.error === "" ? "" : `: ${visible(updates.error)}`}
      {updates.next === undefined ? "" : `; next ${moment(updates.next, one.now)}`}
    </p>
  );
};

const valueCell = (value: string): ComponentChildren =>
  value === "" ? <span class="muted">none</span> : <span class="mono">{visible(value)}</span>;

/** The changes of the spec, the newest first, with the first attempt of each. */
const Changes = ({ one }: { readonly one: Detail }) => (
  <Table
    label="Changes"
    heads={["When", "Field", "Before", "After"]}
    rows={one.changes.toReversed().flatMap(({ at, attempt, fields }) => {
      const when = (
        <>
          {moment(at, one.now)} <span class="muted">{attempt === undefined ? "" : `attempt ${attempt}`}</span>
        </>
      );
      if (fields === undefined) return [[when, "too large to be kept", "", ""]];
      return fields.map(([path, before, after], nth) => [
        nth === 0 ? when : "",
        <span class="mono">{visible(path)}</span>,
        valueCell(before),
        valueCell(after),
      ]);
    })}
    empty="Its record keeps no change of the spec."
  />
);

/** The same in a terminal: every screen offers the line that says the same. */
const Facts = ({ one }: { readonly one: Detail }) => (
  <section class="panel facts" aria-label="Facts">
    <header>
      <h2>Facts</h2>
    </header>
    <FactList
      of={[
        ["created", moment(one.createdAt, one.now)] as const,
        ...one.facts.map(
          ([name, value]) =>
            [name.toLowerCase(), /^\d{4}-\d\d-\d\dT/.test(value) ? moment(Date.parse(value), one.now) : value] as const,
        ),
        ...(one.saves === undefined ? [] : [["saves of its record", String(one.saves)] as const]),
      ]}
    />
    {one.notes.map((note) => (
      <p class="note" key={note}>
        {visible(note)}
      </p>
    ))}
    <div class="lines">
      {[
        `rekindle status ${nameInCommands(one)}`,
        ...(one.hasPods ? [`rekindle log ${nameInCommands(one)}${one.isOver ? "" : " -f"}`] : []),
        `rekindle plan ${nameInCommands(one)}`,
      ].map((text) => (
        <CommandLine key={text} text={text} />
      ))}
      {one.hasExecutors && !one.isOver ? (
        <>
          <p class="muted">Spark's own page, on this machine:</p>
          <CommandLine text={`rekindle forward ${nameInCommands(one)}`} />
        </>
      ) : undefined}
    </div>
  </section>
);

/** Amounts that break between them, and not within one. */
const Unbroken = ({ text }: { readonly text: string }) => (
  <>
    {text.split(/(?<=,) /).flatMap((part, at) => [
      at === 0 ? "" : " ",
      <span class="tight" key={at}>
        {part}
      </span>,
    ])}
  </>
);

/** Core-hours and GiB-hours of the pods that are known here, and money where prices are set. */
const Costs = ({ one }: { readonly one: Detail }) => {
  const receipt = receiptOf(one);
  const quota = quotaReceiptOf(one);
  const { shares, coreHours, unknown, assumed } = receipt;
  // A flow or a schedule has no pods of its own.
  if (shares.length === 0 && unknown === 0) return undefined;
  return (
    <section class="panel facts" aria-label="Receipt">
      <header>
        <h2>Receipt</h2>
        <p class="muted">
          <Unbroken text={usedText(receipt, one.prices)} />
        </p>
      </header>
      <div class="parts">
        {shares.map(({ of, coreHours: part }) => (
          <i key={of} class={of} style={{ flexGrow: Math.max(0.001, part / Math.max(1e-9, coreHours)) }} />
        ))}
      </div>
      <dl>
        {shares.map((share) => (
          <div key={share.of}>
            <dt>
              <i class={`dot ${share.of}`} /> {share.title}
            </dt>
            <dd>
              <Unbroken text={usedText(share, one.prices)} />
            </dd>
          </div>
        ))}
      </dl>
      {quota === undefined ? undefined : (
        <p class="note">
          <Unbroken text={quotaText(quota)} />
        </p>
      )}
      <p class="note">
        Requests of the pods times the time that they ran
        {unknown === 0
          ? ""
          : `; ${plural(unknown, "pod")} ran unseen by this server and ${unknown === 1 ? "is" : "are"} not counted`}
        {assumed === 0 ? "" : `; the usual price for ${plural(assumed, "pod")} on nodes that this server does not know`}
        .
      </p>
    </section>
  );
};

const Wait = ({ one }: { readonly one: Detail }) => {
  const isBad = one.group === "failed";
  const isQuiet = one.isOver && !isBad;
  return (
    <section class={`panel wait ${isBad ? "bad" : isQuiet ? "good" : one.group}`} aria-label="What it waits for">
      <p>
        {one.isOver ? (
          <>
            {visible(stateText(one.state))} after <b>{span(((one.since ?? one.now) - one.createdAt) / 1_000)}</b>
            {one.message === "" ? "" : <b>: {visible(one.message)}</b>}
          </>
        ) : (
          <>
            Waits for <b>{visible(one.waitsFor)}</b>
          </>
        )}
      </p>
      <dl>
        {one.since === undefined ? undefined : (
          <div>
            <dt>since</dt>
            <dd>
              {moment(one.since, one.now)} ({briefly((one.now - one.since) / 1_000)})
            </dd>
          </div>
        )}
        {one.until === undefined ? undefined : (
          <div>
            <dt>until</dt>
            <dd>{moment(one.until, one.now)}</dd>
          </div>
        )}
        <div>
          <dt>do</dt>
          <dd>{visible(one.todo)}</dd>
        </div>
      </dl>
    </section>
  );
};

const summary = (one: Detail): string => {
  const executors = one.lanes.filter(
    ({ role, attempt, lost }) => role === "executor" && lost !== true && attempt === Math.max(1, one.attempts),
  );
  const up = executors.filter(({ up: at, end }) => at !== undefined && end === undefined).length;
  const last = one.isOver ? (one.history.at(-1)?.at ?? one.now) : one.now;
  return [
    one.attempts > 0 ? `attempt ${one.attempts}` : "",
    one.isOver || executors.length === 0 ? "" : `${up} of ${plural(executors.length, "executor")}`,
    one.lost > 0 ? `${one.lost} lost` : "",
    briefly((last - one.createdAt) / 1_000),
  ]
    .filter(Boolean)
    .join(" · ");
};

const Whole = ({ one }: { readonly one: Detail }) => (
  <>
    <div class="title">
      <h1 tabIndex={-1}>{visible(one.name)}</h1>
      <span class={`pill ${one.group}`}>
        <State group={one.group} state={one.state} />
      </span>
      <p class="muted">{summary(one)}</p>
      <ApplicationActions one={one} />
    </div>
    <ActionAnswered path={keyOf(one)} />
    <Wait one={one} />
    {one.gang === undefined ? undefined : <GangCells gang={one.gang} open={showLog} />}
    {one.flow === undefined ? undefined : <FlowGraph nodes={one.flow} />}
    <Timeline detail={one} />
    <div class="below">
      <Tabs
        side="left"
        tabs={[
          ...(one.hasExecutors ? [["Losses", one.lost, () => <Losses one={one} />] as const] : []),
          ["Events", one.events.length, () => <Events one={one} />],
          ["Updates", one.updates?.waiting ?? 0, () => <Updates one={one} />],
          ["Runs", one.runs.length, () => <Runs one={one} />],
        ]}
      />
      <Tabs
        side="right"
        usual={one.hasPods && (one.isOver || one.group === "failed") ? "Log" : "Spec"}
        tabs={[
          ...(one.hasPods
            ? [["Log", undefined, () => <LogEnd name={nameInCommands(one)} now={one.now} />] as const]
            : []),
          ["Changes", one.changes.length, () => <Changes one={one} />],
          ["Spec", undefined, () => <Text text={one.spec} label="Spec" />],
          ["Record", undefined, () => <Text text={one.record} label="Record" />],
        ]}
      />
      <div class="aside-panels">
        <Costs one={one} />
        <Facts one={one} />
      </div>
    </div>
  </>
);

export const Application = () => {
  const value = detail.value;
  const [kind = "", namespace = "", name = ""] = place.value.application.split("/");
  now.value;
  return (
    <main class="application">
      <nav class="crumbs" aria-label="Breadcrumbs">
        <Link to={{ screen: "applications" }}>Applications</Link> /{" "}
        <Link to={{ screen: "applications", query: `ns:${namespace}` }}>{visible(namespace)}</Link> /{" "}
        <Link to={{ screen: "applications", query: `ns:${namespace} kind:${kind.toLowerCase()}` }}>
          {kindText(kind)}
        </Link>
      </nav>
      {value === undefined ? <p class="empty">Reading {visible(name)} …</p> : undefined}
      {value === "missing" ? <ActionAnswered path={place.value.application} /> : undefined}
      {value === "missing" ? (
        <p class="empty">
          There is no {visible(`${kindText(kind)} ${namespace}/${name}`)}: it was deleted, or is not yours to read.
        </p>
      ) : undefined}
      {typeof value === "object" && "error" in value ? (
        <p class="empty">It cannot be read now: {visible(value.error)}</p>
      ) : undefined}
      {typeof value === "object" && !("error" in value) ? <Whole one={value} /> : undefined}
    </main>
  );
};
