/** The list of applications: a grid of which only the visible rows exist, a filter, and the keys that move in it. */
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { kindText } from "./kinds.ts";
import { CommandLine, Key, Mark, State } from "./parts.tsx";
import { withStateToggled } from "./query.ts";
import { all, counts, go, isLoaded, listed, listedCount, place, refine, serverNow } from "./store.ts";
import { briefly, clock, grouped, plural, span, visible } from "./text.ts";
import { spansOf, ticks } from "./timeline.ts";
import { type Group, keyOf, type Row } from "./wire.ts";

/** On a narrow screen a row has two lines: name and reason. The style sheet has the same width. */
const narrow = matchMedia("(max-width: 600px)");
const rowHeight = signal(narrow.matches ? 58 : 36);
narrow.addEventListener("change", () => {
  rowHeight.value = narrow.matches ? 58 : 36;
});
const overscan = 6;

/** The selected application; it stays selected while rows move around it. */
export const selected = signal("");
const scrollTop = signal(0);
const viewHeight = signal(600);

const titles: readonly (readonly [Group, string])[] = [
  ["running", "Running"],
  ["waiting", "Waiting"],
  ["submitted", "Submitted"],
  ["failed", "Failed"],
  ["held", "Held"],
  ["completed", "Completed"],
];

const Chips = () => (
  <fieldset class="chips">
    <legend class="unseen">Filter by state</legend>
    {titles.map(([group, title]) => {
      const isOn = place.value.query.split(/\s+/).includes(`state:${group}`);
      return (
        <button
          key={group}
          type="button"
          class="chip"
          aria-pressed={isOn}
          onClick={() => refine(withStateToggled(place.value.query, group))}
        >
          <Mark group={group} />
          {title} <b>{grouped(counts.value[group])}</b>
        </button>
      );
    })}
  </fieldset>
);

const Filter = () => (
  <search class="filter">
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <circle cx="7" cy="7" r="4.6" fill="none" stroke="currentColor" stroke-width="1.6" />
      <path d="M10.6 10.6L14 14" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
    </svg>
    <input
      id="filter"
      type="text"
      aria-label="Filter: since:2h kind:Spark ns:NAMESPACE state:failed queue:NAME, or part of a name"
      placeholder="since:2h  kind:spark  ns:team-a  state:failed  queue:batch  or part of a name"
      autocomplete="off"
      spellcheck={false}
      value={place.value.query}
      onInput={(event) => refine(event.currentTarget.value)}
    />
    <Key>/</Key>
  </search>
);

/** The window of the strip in seconds: short enough to see minutes, long enough for most of what is listed. */
const windows = [300, 900, 1_800, 3_600, 7_200, 21_600, 86_400] as const;

const windowOf = (rows: readonly Row[], nowS: number): number => {
  const ages = rows
    .slice(0, 300)
    .map((row) => nowS - row.createdAt)
    .sort((a, b) => a - b);
  const age = ages[Math.floor(ages.length * 0.9)] ?? 3_600;
  return windows.find((one) => one >= age * 1.05) ?? 86_400;
};

type Axis = { readonly from: number; readonly to: number };

const percent = (part: number): string => `${(part * 100).toFixed(2)}%`;

const Strip = ({ row, axis }: { readonly row: Row; readonly axis: Axis }) => {
  const width = axis.to - axis.from;
  return (
    <span class="strip">
      {spansOf(row, axis.to)
        .filter(({ to }) => to >= axis.from)
        .map(({ from, to, group }) => {
          const left = Math.max(0, (from - axis.from) / width);
          const right = Math.min(1, (to - axis.from) / width);
          return (
            <i
              key={from}
              class={`bar ${group}`}
              style={{ left: percent(left), width: `max(3px, ${percent(right - left)})` }}
            />
          );
        })}
    </span>
  );
};

const podsText = ({ pods: [have, want], group }: Row): string => {
  if (want < 0 || group === "failed" || group === "completed") return "";
  if (group !== "running" || have === want) return `${want}`;
  return `${have < 0 ? "–" : have}/${want}`;
};

const lasted = (row: Row, nowS: number): string => {
  const isOver = row.group === "failed" || row.group === "completed";
  return briefly((isOver ? row.since : nowS) - row.createdAt);
};

type Line = { readonly row: Row; readonly at: number; readonly axis: Axis; readonly isSelected: boolean };

const Entry = ({ row, at, axis, isSelected }: Line) => (
  // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on the grid opens the active row
  <div
    role="row"
    id={`row-${at}`}
    aria-rowindex={at + 2}
    aria-selected={isSelected}
    class={`row ${row.group}`}
    style={{ transform: `translateY(${at * rowHeight.value}px)` }}
    onClick={() => {
      selected.value = keyOf(row);
      open();
    }}
  >
    <span role="gridcell">
      <State group={row.group} state={row.state} />
    </span>
    <span role="gridcell" class="name" title={visible(`${row.namespace}/${row.name}`)}>
      <span class="muted">{visible(row.namespace)}/</span>
      {visible(row.name)}
    </span>
    <span role="gridcell" class="muted">
      {kindText(row.kind)}
    </span>
    <span role="gridcell" class="muted">
      {podsText(row)}
      {row.pods[2] > 0 ? <b class="lost"> −{row.pods[2]}</b> : undefined}
    </span>
    <span role="gridcell" aria-label={`attempt ${Math.max(1, row.attempts)}`}>
      <Strip row={row} axis={axis} />
    </span>
    <span role="gridcell" class={`why ${row.group}`} title={visible(row.waits)}>
      {visible(row.waits)}
    </span>
    <span role="gridcell" class="lasted muted">
      {lasted(row, axis.to)}
    </span>
  </div>
);

const selectedIndex = (): number => listed.value.findIndex((row) => keyOf(row) === selected.value);

const open = (): void => {
  if (selected.value !== "") go({ screen: "application", application: selected.value });
};

/** Moves the selection, and scrolls so far that it is seen. */
const moveTo = (grid: HTMLElement, index: number): void => {
  const rows = listed.value;
  const at = Math.max(0, Math.min(rows.length - 1, index));
  const row = rows[at];
  if (row === undefined) return;
  selected.value = keyOf(row);
  const [top, bottom] = [at * rowHeight.value, (at + 1) * rowHeight.value];
  const shown = grid.clientHeight - rowHeight.value;
  if (top < grid.scrollTop) grid.scrollTop = top;
  if (bottom > grid.scrollTop + shown) grid.scrollTop = bottom - shown;
};

type Move = (index: number, page: number, last: number) => number;

const moves: Readonly<Record<string, Move>> = {
  j: (at) => at + 1,
  ArrowDown: (at) => at + 1,
  k: (at) => at - 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at, page) => at + page,
  PageUp: (at, page) => at - page,
  Home: () => 0,
  End: (_, __, last) => last,
};

/** Handles a key of the list. Returns true for a key that it knows. */
export const listKey = (key: string): boolean => {
  const grid = document.getElementById("grid");
  if (grid === null) return false;
  if (key === "Enter") {
    open();
    return true;
  }
  const move = moves[key];
  if (move === undefined) return false;
  const page = Math.max(1, Math.floor(grid.clientHeight / rowHeight.value) - 2);
  moveTo(grid, move(selectedIndex(), page, listed.value.length - 1));
  grid.focus({ preventScroll: true });
  return true;
};

const heads = ["State", "Name", "Kind", "Pods", "", "Waits for, or why it ended", "Lasted"] as const;

const Head = ({ axis }: { readonly axis: Axis }) => (
  <div role="rowgroup" class="head">
    <div role="row" class="row" aria-rowindex={1}>
      {heads.map((head) =>
        head === "" ? (
          <span key="axis" role="columnheader" class="axis" aria-label="Attempts over time">
            {ticks(axis.from * 1_000, axis.to * 1_000, 3)
              .filter((at) => at / 1_000 < axis.to - (axis.to - axis.from) * 0.3)
              .map((at) => (
                <i key={at} style={{ left: percent((at / 1_000 - axis.from) / (axis.to - axis.from)) }}>
                  {clock(at, false)}
                </i>
              ))}
            <i class="now">now</i>
          </span>
        ) : (
          <span key={head} role="columnheader" class={head === "Lasted" ? "lasted" : ""}>
            {head}
          </span>
        ),
      )}
    </div>
  </div>
);

const Nothing = () => {
  if (!isLoaded.value) return <p class="empty">Reading the rows …</p>;
  if (all.value.length > 0) return <p class="empty">Nothing matches the filter.</p>;
  return (
    <p class="empty">
      No applications: nothing has been submitted yet. <CommandLine text="rekindle create -f application.yaml" />
    </p>
  );
};

const useView = () => {
  const grid = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = grid;
    if (current === null) return;
    current.scrollTop = scrollTop.value;
    const watch = new ResizeObserver(() => {
      viewHeight.value = current.clientHeight;
    });
    watch.observe(current);
    return () => watch.disconnect();
  }, []);
  useEffect(() => grid.current?.focus({ preventScroll: true }), []);
  return grid;
};

const Grid = () => {
  const grid = useView();
  const rows = listed.value;
  const count = listedCount.value;
  const nowS = Math.floor(serverNow() / 1_000);
  const axis = { from: nowS - windowOf(rows, nowS), to: nowS };
  const first = Math.max(0, Math.floor(scrollTop.value / rowHeight.value) - overscan);
  const last = Math.min(rows.length, Math.ceil((scrollTop.value + viewHeight.value) / rowHeight.value) + overscan);
  const pool = Math.ceil(viewHeight.value / rowHeight.value) + 2 * overscan + 2;
  const active = selectedIndex();
  const isActiveShown = active >= first && active < last;
  return (
    <div
      id="grid"
      ref={grid}
      class="grid panel"
      role="grid"
      tabIndex={0}
      aria-label="Applications"
      aria-rowcount={count + 1}
      aria-activedescendant={isActiveShown ? `row-${active}` : undefined}
      onScroll={(event) => {
        scrollTop.value = event.currentTarget.scrollTop;
      }}
    >
      <Head axis={axis} />
      <div role="rowgroup" class="body" style={{ height: `${count * rowHeight.value}px` }}>
        {rows.slice(first, last).map((row, at) => (
          <Entry key={(first + at) % pool} row={row} at={first + at} axis={axis} isSelected={first + at === active} />
        ))}
      </div>
      {rows.length === 0 ? <Nothing /> : undefined}
    </div>
  );
};

/** The summary of the list in the foot of the page. */
export const listedText = (): string => {
  const count = listedCount.value;
  const first = Math.min(count, Math.floor(scrollTop.value / rowHeight.value) + 1);
  const last = Math.min(count, Math.floor((scrollTop.value + viewHeight.value) / rowHeight.value) - 1);
  return `${plural(count, "application")}, ${grouped(first)} to ${grouped(Math.max(first, last))}`;
};

const longestWait = (): string => {
  const nowS = serverNow() / 1_000;
  const waits = listed.value.filter(({ group }) => group === "waiting").map(({ since }) => nowS - since);
  return waits.length === 0 ? "" : span(Math.max(...waits));
};

export const Applications = () => {
  const wait = longestWait();
  return (
    <main class="applications">
      <div class="title">
        <h1>Applications</h1>
        <Chips />
        {wait === "" ? undefined : (
          <p class="aside">
            longest wait <b class="waiting-text">{wait}</b>
          </p>
        )}
      </div>
      <Filter />
      <Grid />
    </main>
  );
};
