/** The frame of the timeline: its scale and axis, the bands of attempts, the lanes of states and of events. */
import { clock, span, visible } from "./text.ts";
import { attemptsOf, passagesOf, ticks, type WaitPart, waitParts } from "./timeline.ts";
import type { Detail, EventRow } from "./wire.ts";

export const leftMargin = 138;
const right = 16;
export const lane = 19;
export const axisHeight = 42;

export type Scale = {
  readonly from: number;
  readonly to: number;
  readonly width: number;
  readonly x: (at: number) => number;
};

export const scaleOf = (detail: Detail, width: number): Scale => {
  const starts = [detail.history[0]?.at, ...detail.lanes.map(({ requestedAt, up, end }) => requestedAt ?? up ?? end)];
  const from = Math.min(
    ...starts.filter((at) => at !== undefined),
    ...(starts.every((at) => at === undefined) ? [detail.createdAt] : []),
  );
  const ends = [detail.history.at(-1)?.at, ...detail.lanes.map(({ end }) => end)].filter((at) => at !== undefined);
  const end = detail.isOver ? Math.max(from + 1_000, ...ends) : detail.now;
  const to = Math.max(end, from + 10_000);
  const room = Math.max(100, width - leftMargin - right);
  return { from, to, width, x: (at) => leftMargin + ((Math.max(from, Math.min(to, at)) - from) / (to - from)) * room };
};

type Bar = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly kind: string;
  readonly title: string;
};

export const Rect = ({ x, y, width, kind, title }: Bar) => (
  <rect
    class={`lane ${kind}`}
    x={x}
    y={y + 3}
    width={Math.max(2, width)}
    height={13}
    rx={3}
    fill={kind === "gap" ? "url(#gap)" : kind === "coming" ? "url(#coming)" : undefined}
  >
    <title>{title}</title>
  </rect>
);

/** The width of a text in pixels, roughly: enough to leave out one that does not fit. */
export const widthOf = (text: string): number => text.length * 6.1 + 8;

const attemptColour: Readonly<Record<string, string>> = {
  failed: "failed",
  completed: "completed",
  running: "running",
  submitted: "running",
};

export const Attempts = ({
  detail,
  scale,
  height,
}: {
  readonly detail: Detail;
  readonly scale: Scale;
  readonly height: number;
}) => {
  const attempts = attemptsOf(detail);
  return (
    <g>
      {attempts.map(({ attempt, from, to, end }, at) => {
        const [x, until] = [scale.x(from), scale.x(to)];
        const next = attempts[at + 1];
        return (
          <g key={attempt}>
            <rect
              class={`band ${attemptColour[end]}`}
              x={x}
              y={24}
              width={Math.max(1, until - x)}
              height={height - 24}
            />
            {next === undefined ? undefined : (
              <rect
                x={until}
                y={24}
                width={Math.max(0, scale.x(next.from) - until)}
                height={height - 24}
                fill="url(#between)"
              />
            )}
            <text class={`attempt ${attemptColour[end]}`} x={x + 6} y={37}>{`Attempt ${attempt}, ${end}`}</text>
          </g>
        );
      })}
    </g>
  );
};

const stateKind: Readonly<Record<string, string>> = {
  running: "run",
  submitted: "coming-solid",
  waiting: "gap",
  held: "hold",
  failed: "bad",
  completed: "good",
};

/** As much of the text as fits into a bar; "" where that would be too little to read. */
const cut = (text: string, width: number): string => {
  if (width > widthOf(text)) return text;
  const most = Math.floor((width - 14) / 6.1) - 1;
  return most < 8 ? "" : `${text.slice(0, most)}…`;
};

const WaitBar = ({ one, scale, y }: { readonly one: WaitPart; readonly scale: Scale; readonly y: number }) => {
  const [x, width] = [scale.x(one.from), scale.x(one.to) - scale.x(one.from)];
  const took = span((one.to - one.from) / 1_000);
  const title = visible(`waits for ${one.for}: ${clock(one.from)} to ${clock(one.to)} (${took})`);
  if (!one.isWhole)
    return (
      <rect class="lane gap beside" x={x} y={y + 11} width={Math.max(2, width)} height={5} rx={2} fill="url(#gap)">
        <title>{title}</title>
      </rect>
    );
  return (
    <g class="wait-bar">
      <Rect x={x} y={y} width={width} kind="gap" title={title} />
      <text class="in waiting" x={x + 7} y={y + 13.5}>
        {cut(visible(one.for), width)}
      </text>
    </g>
  );
};

/** The states, and over them the waits in which something was in the way. */
export const States = ({
  detail,
  scale,
  y,
}: {
  readonly detail: Detail;
  readonly scale: Scale;
  readonly y: number;
}) => (
  <g>
    {passagesOf(detail)
      .filter(({ at, to }) => to > at)
      .map(({ state, at, to, group }) => {
        const [x, width] = [scale.x(at), scale.x(to) - scale.x(at)];
        return (
          <g key={at}>
            <Rect
              x={x}
              y={y}
              width={width}
              kind={stateKind[group] ?? "run"}
              title={`${state} ${clock(at)} to ${clock(to)}`}
            />
            {width > widthOf(state) ? (
              <text class={`in ${group}`} x={x + 7} y={y + 13.5}>
                {visible(state)}
              </text>
            ) : undefined}
          </g>
        );
      })}
    {waitParts(detail).map((one) => (
      <WaitBar key={`${one.for} ${one.from}`} one={one} scale={scale} y={y} />
    ))}
  </g>
);

type Row<Item> = { readonly items: readonly Item[]; readonly scale: Scale; readonly y: number };

export const Saves = ({ items, scale, y }: Row<number>) => (
  <g>
    <text class="label" x={14} y={y + 13.5}>
      Saves
    </text>
    {items
      .filter((at) => at >= scale.from)
      .map((at) => (
        <path key={at} class="save" d={`M${scale.x(at) - 4} ${y + 9.5}h8m-4-4v8`}>
          <title>{`saved ${clock(at)}`}</title>
        </path>
      ))}
  </g>
);

export const Events = ({
  events,
  scale,
  y,
}: {
  readonly events: readonly EventRow[];
  readonly scale: Scale;
  readonly y: number;
}) => (
  <g>
    <text class="label" x={14} y={y + 13.5}>
      Events
    </text>
    {events.map(({ at, type, reason, message }, index) => {
      const x = scale.x(at);
      const title = <title>{visible(`${clock(at)} ${reason}: ${message}`)}</title>;
      return type === "Warning" ? (
        <path key={index} class="warning" d={`M${x} ${y + 4}l5.5 10h-11z`}>
          {title}
        </path>
      ) : (
        <circle key={index} class="event" cx={x} cy={y + 9.5} r={3}>
          {title}
        </circle>
      );
    })}
  </g>
);

export const Axis = ({
  scale,
  height,
  isOver,
}: {
  readonly scale: Scale;
  readonly height: number;
  readonly isOver: boolean;
}) => {
  const end = scale.x(scale.to);
  const most = Math.max(2, Math.floor((scale.width - leftMargin) / 130));
  const marks = ticks(scale.from, scale.to, most);
  const [first = 0, second = first + 60_000] = marks;
  const withSeconds = second - first < 60_000;
  return (
    <g>
      {marks.map((at) => (
        <g key={at}>
          <path class="tick" d={`M${scale.x(at)} 24V${height}`} />
          {end - scale.x(at) < 120 ? undefined : (
            <text class="time" x={scale.x(at)} y={15} text-anchor="middle">
              {clock(at, withSeconds)}
            </text>
          )}
        </g>
      ))}
      <path class={isOver ? "over" : "now"} d={`M${end} 20V${height}`} />
      <text
        class={isOver ? "time" : "time now"}
        x={end}
        y={15}
        text-anchor="end"
      >{`${isOver ? "ended" : "now"} ${clock(scale.to)}`}</text>
    </g>
  );
};

export const Patterns = () => (
  <defs>
    {[
      ["gap", 7],
      ["coming", 6],
      ["between", 9],
    ].map(([id, size]) => (
      <pattern
        key={id}
        id={`${id}`}
        width={size}
        height={size}
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <rect class={`${id}-a`} width={size} height={size} />
        <rect class={`${id}-b`} width={Number(size) / 2} height={size} />
      </pattern>
    ))}
  </defs>
);
