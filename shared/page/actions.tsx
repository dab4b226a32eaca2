/**
 * The actions of a viewer that may act: buttons, the dialog that asks before a run ends or an object goes, and the
 * answer. An action names what the viewer saw: the server refuses it after any change. No key starts one.
 */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { commandFor } from "./kinds.ts";
import { receiptOf, usedText } from "./receipt.ts";
import { detail, health, isDetail, place, queues, refresh } from "./store.ts";
import { plural, visible } from "./text.ts";
import {
  type Action,
  type ActionAnswer,
  actionHeader,
  type Detail,
  keyOf,
  type QueueRow,
  type SeenVersion,
} from "./wire.ts";

/** The object of an action, as the viewer saw it. */
type Subject = SeenVersion & {
  /** KIND/NAMESPACE/NAME, or Queue/NAME. */
  readonly path: string;
  /** The name that is typed before a deletion. */
  readonly name: string;
  /** Sentences about the pods and objects that the action ends, and those that it keeps. */
  readonly effects: readonly string[];
};

type Asked = Subject & { readonly action: Action };

/** The action whose dialog is open. */
const asked = signal<Asked | undefined>(undefined);
/** The path of an action whose answer has not come. */
const busy = signal("");

type Told = {
  readonly path: string;
  readonly text: string;
  readonly isBad: boolean;
  /** The action that takes this one back. */
  readonly undo?: Asked;
};

const told = signal<Told | undefined>(undefined);

const undoMs = 10_000;
const opposites: Readonly<Partial<Record<Action, Action>>> = { pause: "resume", resume: "pause" };

const titles: Readonly<Record<Action, string>> = {
  reconcile: "Reconcile now",
  pause: "Pause",
  resume: "Resume",
  suspend: "Suspend …",
  delete: "Delete …",
  open: "Open",
  close: "Close …",
};

const isAsking: readonly Action[] = ["suspend", "delete", "close"];

const againMs = 1_000;

/** Sends an action; without an answer once more with the same key, which makes it the same action. */
const answerTo = async ({ action, path, uid, version }: Asked): Promise<ActionAnswer> => {
  const sent = {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "idempotency-key": crypto.randomUUID(),
      [actionHeader]: "1",
    },
    body: JSON.stringify({ action, uid, version }),
  };
  const ask = async (): Promise<ActionAnswer> => {
    const answer = await fetch(`/page/action/${path.split("/").map(encodeURIComponent).join("/")}`, sent);
    return await answer.json();
  };
  try {
    return await ask();
  } catch {
    await new Promise((resolve) => setTimeout(resolve, againMs));
    return ask().catch(() => ({ error: "the server did not answer: look whether it was done" }));
  }
};

/** The action that takes this one back; a change of the object in between refuses it. */
const undoOf = (one: Asked, answer: ActionAnswer): Pick<Told, "undo"> => {
  const action = opposites[one.action];
  if (action === undefined || !("text" in answer) || answer.version === undefined) return {};
  return { undo: { ...one, action, version: answer.version } };
};

const send = async (one: Asked): Promise<void> => {
  asked.value = undefined;
  told.value = undefined;
  busy.value = one.path;
  const answer = await answerTo(one);
  busy.value = "";
  const { path } = one;
  const next: Told =
    "text" in answer
      ? { path, text: answer.text, isBad: false, ...undoOf(one, answer) }
      : { path, text: answer.error, isBad: true };
  told.value = next;
  refresh(30);
  if (next.undo !== undefined)
    setTimeout(() => {
      if (told.value === next) told.value = { path, text: next.text, isBad: false };
    }, undoMs);
};

const begin = (one: Asked): void => {
  if (isAsking.includes(one.action)) asked.value = one;
  else void send(one);
};

const has = (ability: "act" | "trigger", place: string): boolean =>
  health.value?.may.some(
    (one) => one.ability === ability && (one.namespaces.length === 0 || one.namespaces.includes(place)),
  ) === true;

/** True for a viewer that may change objects without a namespace. */
export const mayAct = (): boolean => has("act", "");

/** The actions of a state that this viewer may do there. */
const allowed = (actions: readonly Action[], place: string): readonly Action[] =>
  actions.filter((action) => has(action === "reconcile" ? "trigger" : "act", place));

const Buttons = ({ actions, of }: { readonly actions: readonly Action[]; readonly of: Subject }) => (
  <>
    {actions.map((action) => (
      <button
        key={action}
        type="button"
        class="action"
        disabled={busy.value === of.path}
        title={commandFor(action, of.path)}
        onClick={() => begin({ ...of, action })}
      >
        {titles[action]}
      </button>
    ))}
  </>
);

/** The answer to the last action on this object. */
export const ActionAnswered = ({ path }: { readonly path: string }) => {
  const { value } = told;
  return (
    <p role="status" class={`answered ${value?.isBad === true ? "failed-text" : ""}`}>
      {value?.path === path ? visible(value.text) : ""}
      {value?.path === path && value.undo !== undefined ? (
        <button type="button" class="action" onClick={() => value.undo && void send(value.undo)}>
          Undo
        </button>
      ) : undefined}
    </p>
  );
};

const effectsOf = (one: Detail): readonly string[] => {
  const running = one.lanes.filter(({ up, end }) => up !== undefined && end === undefined).length;
  return [
    `It is ${one.state}; ${plural(running, "pod")} of it ${running === 1 ? "runs" : "run"}, and will end.`,
    `It has used ${usedText(receiptOf(one), one.prices)} so far.`,
  ];
};

const ofApplication = (one: Detail): Subject => ({
  ...{ uid: one.uid, version: one.version, path: keyOf(one), name: one.name },
  effects: effectsOf(one),
});

const ofQueue = ({ uid, version, name, groups: [pending, inqueue, running] }: QueueRow): Subject => ({
  ...{ uid, version, path: `Queue/${name}`, name },
  effects: [
    "New jobs for this queue are refused until it is opened.",
    `${plural(pending + inqueue, "group")} in it ${pending + inqueue === 1 ? "waits" : "wait"}, ${running} run: they stay.`,
  ],
});

/** The same object as the page shows it now: a dialog shows changes while it is open. */
const current = (one: Asked): Asked => {
  const shown = detail.value;
  const row = queues.value.find(({ name }) => `Queue/${name}` === one.path);
  const seen = isDetail(shown, one.path) ? ofApplication(shown) : row && ofQueue(row);
  return seen?.uid === one.uid ? { ...seen, action: one.action } : one;
};

export const ApplicationActions = ({ one }: { readonly one: Detail }) => {
  const actions = allowed(one.actions, one.namespace);
  return actions.length === 0 ? (
    <p class="aside muted">Read only</p>
  ) : (
    <p class="aside">
      <Buttons actions={actions} of={ofApplication(one)} />
    </p>
  );
};

/** The button that opens or closes a queue, and the answer to it. */
export const QueueCell = ({ row }: { readonly row: QueueRow }) => {
  const isOpen = row.state === "Open" || row.state === "";
  return (
    <>
      <ActionAnswered path={`Queue/${row.name}`} />
      <Buttons actions={row.name === "root" ? [] : [isOpen ? "close" : "open"]} of={ofQueue(row)} />
    </>
  );
};

const questions: Readonly<Partial<Record<Action, string>>> = {
  suspend: "Suspend",
  delete: "Delete",
  close: "Close queue",
};

const Question = ({ one }: { readonly one: Asked }) => {
  const { action, name, effects, path } = one;
  const typed = useRef<HTMLInputElement>(null);
  const title = `${questions[action]} ${visible(name)}`;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (action !== "delete" || typed.current?.value === name) void send(one);
      }}
    >
      <h2>{title}?</h2>
      {effects.map((effect) => (
        <p key={effect}>{effect}</p>
      ))}
      {action === "delete" ? (
        <>
          <p>The object goes, with its pods and its record. Nothing brings it back.</p>
          <label>
            Type its name to delete it: <b>{visible(name)}</b>
            <input ref={typed} name="typed" autocomplete="off" required />
          </label>
        </>
      ) : undefined}
      <p class="muted">
        In a terminal: <code>{visible(commandFor(action, path))}</code>
      </p>
      <button type="submit" class="danger">
        {title}
      </button>{" "}
      <button
        type="button"
        onClick={() => {
          asked.value = undefined;
        }}
      >
        Cancel
      </button>
    </form>
  );
};

/** The dialog before an action that ends or removes something. */
export const ActionDialog = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  const one = asked.value;
  const isOpen = one !== undefined;
  useEffect(() => {
    if (!isOpen) dialog.current?.close();
    else dialog.current?.showModal();
  }, [isOpen]);
  useEffect(
    () =>
      place.subscribe(() => {
        asked.value = undefined;
      }),
    [],
  );
  return (
    <dialog
      ref={dialog}
      aria-label="Confirm"
      onClose={() => {
        asked.value = undefined;
      }}
    >
      {one === undefined ? undefined : <Question key={one.path + one.action} one={current(one)} />}
    </dialog>
  );
};

/** True while a dialog asks: keys are its own. */
export const isActionAsked = (): boolean => asked.value !== undefined;
