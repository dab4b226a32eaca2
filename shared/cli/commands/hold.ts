/** `rekindle pause`, `suspend` and `resume` as people type them. */
import type { Command } from "commander";
import { pause as pauseIt, resume as resumeIt, suspend as suspendIt } from "../hold.ts";
import { application, connected, onNamespace, type Scoped } from "../options.ts";
import { findTarget, type Target } from "../target.ts";
import type { Session, Tools } from "../tools.ts";

type Act = (session: Session, target: Target) => Promise<string>;

const holding =
  (name: string, act: Act) =>
  (tools: Tools): Command =>
    onNamespace(name)
      .argument(`${application[0].slice(0, -1)}...>`, application[1])
      .action((names: readonly string[], options: Scoped) =>
        connected(tools, options, async (session) => {
          for (const text of names) tools.print(await act(session, await findTarget(text, session, options.namespace)));
        }),
      );

export const pause = holding("pause", pauseIt);
export const suspend = holding("suspend", suspendIt);
export const resume = holding("resume", resumeIt);
