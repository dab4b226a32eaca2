/** The timeline of one application: its driver and executors as lanes, each loss with what came instead. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { grantColours, grantMark, grantOfPods, grantText } from "./grants.ts";
import { isTable } from "./panels.ts";
import { Table } from "./parts.tsx";
import { briefly, clock, span, visible } from "./text.ts";
import { attemptsOf, folded, type Slot, slotsOf } from "./timeline.ts";
import {
  Attempts,
  Axis,
  axisHeight,
  Events,
  lane,
  leftMargin,
  Patterns,
  Rect,
  Saves,
  type Scale,
  States,
  scaleOf,
  widthOf,
} from "./timeline-frame.tsx";
import type { Detail, Lane, WaitRow } from "./wire.ts";

const Lost = ({ x, y }: { readonly x: number; readonly y: number }) => (
  <g class="lost-mark" transform={`translate(${x - 6.5} ${y + 3})`}>
    <rect width="13" height="13" rx="3" />
    <path d="M4 4l5 5M9 4l-5 5" />
  </g>
);

/** The places of executors' Workloads of Kueue, by pod. */
type Users = ReadonlyMap<string, number>;

type Drawn = {
  readonly users: Users;
  readonly one: Slot["lanes"][number];
  readonly scale: Scale;
  readonly y: number;
  readonly newest: number;
  readonly now: number;
};

const lossText = ({ reason = "lost", exit }: Lane): string =>
  exit === undefined || exit === 0 ? reason : `${reason} ${exit}`;

const laneTitle = (one: Lane): string =>
  [
    one.pod,
    one.node,
    one.up === undefined ? "did not start" : `up ${clock(one.up)}`,
    one.end === undefined ? "runs" : `ended ${clock(one.end)}`,
    one.reason,
  ]
    .filter(Boolean)
    .map((text) => visible(text ?? ""))
    .join(" · ");

const kindOf = (one: Drawn["one"], newest: number): string => {
  if (one.attempt !== newest && one.attempt !== 0) return "past";
  return one.follows === undefined ? "live" : "run";
};

const End = ({ one, scale, y, start }: Pick<Drawn, "one" | "scale" | "y"> & { readonly start: number }) => {
  if (one.end === undefined) return null;
  const x = scale.x(one.end);
  const isBad = one.lost === true || (one.role !== "executor" && one.exit !== undefined && one.exit !== 0);
  if (!isBad) return <path class="ended" d={`M${x} ${y + 2}v15`} />;
  const text = one.role === "driver" && one.exit !== undefined ? `exit ${one.exit}` : lossText(one);
  const fits = x - start > widthOf(text) + 10;
  return (
    <g>
      <Lost x={x} y={y} />
      <text
        class={fits ? "why" : "why after"}
        x={fits ? x - 11 : x + 11}
        y={y + 13.5}
        text-anchor={fits ? "end" : "start"}
      >
        {visible(text)}
      </text>
    </g>
  );
};

/** The time from the request for a pod until it is up; of a successor it is part of the gap. */
const Coming = ({ one, scale, y, to }: Pick<Drawn, "one" | "scale" | "y"> & { readonly to: number }) => {
  if (one.requestedAt === undefined) return null;
  const x = scale.x(one.requestedAt);
  const kind = one.follows === undefined ? "coming" : "gap";
  return to - x > 1 ? (
    <Rect x={x} y={y} width={to - x} kind={kind} title={`requested at ${clock(one.requestedAt)}`} />
  ) : null;
};

/** The time after a loss in which nobody is in its place. */
const Gap = ({ one, scale, y, newest, now }: Drawn) => {
  if (one.lost !== true || one.end === undefined) return null;
  const to = one.until ?? (newest === one.attempt ? now : one.end);
  const x = scale.x(one.end);
  return <Rect x={x} y={y} width={scale.x(to) - x} kind="gap" title="nothing runs in its place yet" />;
};

/** The edge of a lane in the colour of the Workload whose quota it uses. */
const Granted = ({ one, y, users, from, to }: Drawn & { readonly from: number; readonly to: number }) => {
  const at = users.get(one.pod);
  if (at === undefined || one.up === undefined) return null;
  const kind = `grant g${at % grantColours}`;
  return <rect class={kind} x={from} y={y + 13} width={Math.max(2, to - from)} height={4} rx={1} />;
};

const LaneView = (drawn: Drawn) => {
  const { one, scale, y, newest, now } = drawn;
  const start = one.up ?? one.end ?? now;
  const [x1, x2] = [scale.x(start), scale.x(one.end ?? now)];
  const follows = one.follows === undefined ? "" : `${one.id}, in place of ${one.follows}`;
  const isNamed = follows !== "" && x2 - x1 > widthOf(follows);
  return (
    <g>
      <Coming one={one} scale={scale} y={y} to={x1} />
      {one.up === undefined ? undefined : (
        <Rect x={x1} y={y} width={x2 - x1} kind={kindOf(one, newest)} title={laneTitle(one)} />
      )}
      <Granted {...drawn} from={x1} to={x2} />
      {isNamed ? (
        <text class="in running" x={x1 + 7} y={y + 13.5}>
          {follows}
        </text>
      ) : undefined}
      <Gap {...drawn} />
      <End one={one} scale={scale} y={y} start={x1} />
    </g>
  );
};

const slotName = (
  { lanes }: Slot,
  { newest, isOver, users }: Pick<Row, "newest" | "isOver" | "users">,
): { readonly name: string; readonly next: string; readonly isLoud: boolean } => {
  const own = lanes.filter(({ attempt }) => attempt === newest);
  const [first = lanes[0], ...later] = own;
  const last = later.at(-1);
  const isOpen = own.at(-1)?.lost === true;
  const plain = first === undefined ? "" : first.role === "executor" ? `Executor ${first.id}` : first.pod;
  const grant = users.get(own.at(-1)?.pod ?? "");
  const name = grant === undefined ? plain : `${plain} ${grantMark(grant)}`;
  return {
    name,
    next: last === undefined ? (isOpen && !isOver ? "→ …" : "") : `→ ${last.id}`,
    isLoud: own.some(({ lost }) => lost === true),
  };
};

const short = (text: string): string => (text.length <= 18 ? text : `…${text.slice(-17)}`);

type Row = Omit<Drawn, "one"> & { readonly slot: Slot; readonly isOver: boolean };

const SlotRow = ({ slot, isOver, ...common }: Row) => {
  const { y, newest, users } = common;
  const { name, next, isLoud } = slotName(slot, { newest, isOver, users });
  return (
    <g>
      <text class={isLoud ? "label loud" : "label"} x={14} y={y + 13.5}>
        {short(visible(name))}
        <title>{visible(name)}</title>
      </text>
      <text class="then" x={leftMargin - 12} y={y + 13.5} text-anchor="end">
        {next}
      </text>
      {slot.lanes.map((one) => (
        <LaneView key={one.pod} one={one} {...common} />
      ))}
    </g>
  );
};

const useWidth = () => {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(1_000);
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null) return;
    const watch = new ResizeObserver(() => {
      width.value = current.clientWidth;
    });
    watch.observe(current);
    width.value = current.clientWidth;
    return () => watch.disconnect();
  }, []);
  return { box, width: width.value };
};

const Drivers = ({ drivers, ...common }: Omit<Drawn, "one"> & { readonly drivers: readonly Lane[] }) => (
  <g>
    <text class="label loud" x={14} y={common.y + 13.5}>
      Driver
    </text>
    {drivers.map((one) => (
      <LaneView key={one.pod + one.requestedAt} one={one} {...common} />
    ))}
  </g>
);

const Drawing = ({ detail }: { readonly detail: Detail }) => {
  const { box, width } = useWidth();
  const scale = scaleOf(detail, width);
  const drivers = detail.lanes.filter(({ role }) => role === "driver");
  const { shown, quiet } = folded(slotsOf(detail.lanes.filter(({ role }) => role !== "driver")));
  const newest = Math.max(0, ...detail.lanes.map(({ attempt }) => attempt));
  const top = axisHeight + lane + (drivers.length === 0 ? 0 : lane) + 8;
  const foot = top + (shown.length + (quiet > 0 ? 1 : 0)) * lane + 8;
  const height = foot + lane * (detail.savedAt.length === 0 ? 1 : 2) + 12;
  const common = { scale, newest, now: scale.to, users: grantOfPods(detail) };
  return (
    <div ref={box} class="drawing">
      <svg width={width} height={height} role="img" aria-label={`Timeline of ${detail.name}; t shows it as a table`}>
        <Patterns />
        <Attempts detail={detail} scale={scale} height={height} />
        <Axis scale={scale} height={height} isOver={detail.isOver} />
        <text class="label loud" x={14} y={axisHeight + 13.5}>
          State
        </text>
        <States detail={detail} scale={scale} y={axisHeight} />
        {drivers.length === 0 ? undefined : <Drivers drivers={drivers} y={axisHeight + lane} {...common} />}
        {shown.map((slot, at) => (
          <SlotRow key={slot.lanes[0]?.pod} slot={slot} y={top + at * lane} isOver={detail.isOver} {...common} />
        ))}
        {quiet > 0 ? (
          <text class="label" x={14} y={top + shown.length * lane + 13.5}>{`and ${quiet} more that lost nothing`}</text>
        ) : undefined}
        <path class="rule" d={`M0 ${foot - 2}H${width}`} />
        {detail.savedAt.length === 0 ? undefined : <Saves items={detail.savedAt} scale={scale} y={foot + 2} />}
        <Events events={detail.events} scale={scale} y={height - lane - 10} />
      </svg>
    </div>
  );
};

const cell = (at: number | undefined): string => (at === undefined ? "" : clock(at));

const Waits = ({ waits, now }: { readonly waits: readonly WaitRow[]; readonly now: number }) => (
  <Table
    label="Waits"
    heads={["Waited for", "From", "To", "Time"]}
    rows={waits.map(({ for: reason, from, to, isUsual }) => [
      <span class={isUsual ? "muted" : ""}>{visible(reason)}</span>,
      clock(from),
      to === undefined ? "now" : clock(to),
      span(((to ?? now) - from) / 1_000),
    ])}
    empty="Its record keeps no waits."
  />
);

/** The Workload of Kueue whose quota each living executor uses; undefined for an application whose Workloads are not known. */
const workloadCells = (detail: Detail): ((pod: string) => string) | undefined => {
  const { grants } = detail;
  if (grants === undefined) return undefined;
  const users = grantOfPods(detail);
  return (pod) => {
    const at = users.get(pod);
    return at === undefined ? "" : `${grantMark(at)} ${visible(grants[at]?.workload ?? "")}`;
  };
};

const AsTable = ({ detail }: { readonly detail: Detail }) => {
  const { lanes, waits, now } = detail;
  const workloadOf = workloadCells(detail);
  const heads = ["Pod", "Attempt", "Requested", "Up", "Ended", "Why", "Node"];
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Timeline as a table">
        <table>
          <thead>
            <tr>
              {[...heads, ...(workloadOf === undefined ? [] : ["Workload"])].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lanes.map((one) => (
              <tr key={one.pod + one.requestedAt}>
                <td class="mono">{visible(one.pod)}</td>
                <td>{one.attempt || ""}</td>
                <td>{cell(one.requestedAt)}</td>
                <td>{cell(one.up)}</td>
                <td>{cell(one.end)}</td>
                <td class={one.lost === true ? "failed-text" : ""}>
                  {one.lost === true ? lossText(one) : one.exit === undefined ? "" : `exit ${one.exit}`}
                </td>
                <td class="mono">{visible(one.node ?? "")}</td>
                {workloadOf === undefined ? undefined : <td class="mono">{workloadOf(one.pod)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Waits waits={waits} now={now} />
    </>
  );
};

/** The story of the attempts in one line: `attempt 1 failed after 9 min 44 s, attempt 2 runs for 26 min`. */
const story = (detail: Detail): string =>
  attemptsOf(detail)
    .slice(-3)
    .map(
      ({ attempt, from, to, end }) =>
        `attempt ${attempt} ${end === "running" || end === "submitted" ? `${end} for` : `${end} after`} ${briefly((to - from) / 1_000)}`,
    )
    .join(", ");

const Legend = () => (
  <p class="legend" aria-hidden="true">
    <i class="key run" /> runs <i class="key coming" /> comes up <i class="key gap" /> waits <i class="key bad">×</i>{" "}
    lost or failed
  </p>
);

/** The Workloads of Kueue that grant executors: the mark of each, its name, and its number of executors. */
const Grants = ({ detail: { grants = [] } }: { readonly detail: Detail }) =>
  grants.length === 0 ? null : (
    <p class="legend">
      Quota of Kueue:{" "}
      {grants.map((grant, at) => (
        <span key={grant.workload}>
          <i class={`key grant g${at % grantColours}`} /> {visible(grantText(grant, at))}
        </span>
      ))}
    </p>
  );

export const Timeline = ({ detail }: { readonly detail: Detail }) => (
  <section class="panel timeline" aria-label="Timeline">
    <header>
      <h2>Timeline</h2>
      <p class="muted">{story(detail)}</p>
      <Legend />
      <Grants detail={detail} />
      <button
        type="button"
        class="small"
        aria-pressed={isTable.value}
        onClick={() => {
          isTable.value = !isTable.value;
        }}
      >
        as table <kbd>t</kbd>
      </button>
    </header>
    {isTable.value ? <AsTable detail={detail} /> : <Drawing detail={detail} />}
  </section>
);
