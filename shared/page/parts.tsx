/** Parts that all screens share: the marks of states, panels, links that stay in the page. */
import type { ComponentChildren, JSX } from "preact";
import { addressOf, go, type Place } from "./store.ts";
import { stateText, visible } from "./text.ts";
import { type Group, keyOf, type Row } from "./wire.ts";

/** The shape of each group: it says the same as the colour. */
const shapes: Readonly<Record<Group, JSX.Element>> = {
  failed: (
    <>
      <rect class="fill" x="1" y="1" width="14" height="14" rx="3" />
      <path class="cut" d="M5 5l6 6M11 5l-6 6" />
    </>
  ),
  waiting: (
    <>
      <circle class="ring" cx="8" cy="8" r="6.2" />
      <path class="line" d="M8 4.4V8l2.4 1.6" />
    </>
  ),
  held: (
    <>
      <circle class="fill" cx="8" cy="8" r="7" />
      <path class="cut" d="M6.2 5v6M9.8 5v6" />
    </>
  ),
  submitted: <circle class="ring dashed" cx="8" cy="8" r="6.2" />,
  running: (
    <>
      <circle class="faint" cx="8" cy="8" r="6.2" />
      <path class="line" d="M8 1.8a6.2 6.2 0 0 1 6.2 6.2" />
      <circle class="fill" cx="8" cy="8" r="2.4" />
    </>
  ),
  completed: (
    <>
      <circle class="fill" cx="8" cy="8" r="7" />
      <path class="cut" d="M4.8 8.2l2.2 2.2 4.2-4.4" />
    </>
  ),
};

export const Mark = ({ group }: { readonly group: Group }) => (
  <svg class={`mark ${group}`} viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
    {shapes[group]}
  </svg>
);

export const State = ({ group, state }: { readonly group: Group; readonly state: string }) => (
  <span class={`state ${group}`} title={visible(state)}>
    <Mark group={group} />
    <span>{visible(stateText(state))}</span>
  </span>
);

type To = {
  readonly to: Partial<Place>;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly title?: string;
  readonly current?: boolean;
};

/** Names with their values. */
export const FactList = ({ of }: { readonly of: readonly (readonly [string, string])[] }) => (
  <dl>
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{visible(value)}</dd>
      </div>
    ))}
  </dl>
);

/** A link to another place of the page; with a modifier key the browser opens it as any link. */
export const Link = ({ to, children, class: name, title, current }: To) => (
  <a
    href={addressOf(to)}
    class={name}
    title={title}
    aria-current={current === true ? "page" : undefined}
    onClick={(event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      go(to);
    }}
  >
    {children}
  </a>
);

/** The name of an application, which leads to it. */
export const Name = ({ row }: { readonly row: Pick<Row, "kind" | "namespace" | "name"> }) => (
  <Link
    to={{ screen: "application", application: keyOf(row) }}
    class="name"
    title={visible(`${row.namespace}/${row.name}`)}
  >
    <span class="muted">{visible(row.namespace)}/</span>
    {visible(row.name)}
  </Link>
);

type Titled = {
  readonly title: string;
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
  /** True: the heading of the screen says the title. */
  readonly isAlone?: boolean;
};

export const Panel = ({ title, beside, children, class: name = "", isAlone = false }: Titled) => (
  <section class={`panel ${name}`} aria-label={title}>
    {isAlone ? undefined : (
      <header>
        <h2>{title}</h2>
        {beside}
      </header>
    )}
    {children}
  </section>
);

/** A command for a terminal, with a button that copies it. */
export const CommandLine = ({ text }: { readonly text: string }) => (
  <span class="command">
    <code>{visible(text)}</code>
    {isSecureContext ? (
      <button
        type="button"
        class="small"
        aria-label={`Copy ${visible(text)}`}
        onClick={() => void navigator.clipboard.writeText(text)}
      >
        copy
      </button>
    ) : undefined}
  </span>
);

export const Key = ({ children }: { readonly children: string }) => <kbd>{children}</kbd>;

type Cell = ComponentChildren;

/** Columns of texts, which take the room that the others leave, and wrap. */
const wide: ReadonlySet<string> = new Set([
  "Why",
  "Waits for",
  "Waited for",
  "Message",
  "Lacks",
  "Command",
  "Before",
  "After",
  "Reasons",
]);

/** A plain table; `heads` without rows says what is missing. Narrow screens show each row on lines of its own. */
export const Table = ({
  heads,
  rows,
  empty,
  label,
}: {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly empty: string;
  readonly label: string;
}) =>
  rows.length === 0 ? (
    <p class="empty">{empty}</p>
  ) : (
    <div class="scroll" tabIndex={0} role="group" aria-label={label}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, at) => (
            <tr key={at}>
              {cells.map((cell, column) => {
                const head = heads[column] ?? "";
                return (
                  <td key={head} class={wide.has(head) ? "rest" : ""} data-head={head}>
                    {cell}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
