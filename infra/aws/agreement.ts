/** Differences between template and functions: a line for each right and each variable that only one side knows. */
import { documentVariable } from "../../shared/deployments/settings/read.ts";
import { isReadIn, settingNames, variableName } from "../../shared/deployments/settings/table.ts";
import { needsOf, type Parts } from "./rights.ts";
import { functionsIn, statementsOf, type Template, variablesOf } from "./template.ts";

/** Prefix of actions that have no resource to name. */
const nameless = "ec2:";

const rightsOf = (template: Template, id: string, parts: Parts): readonly string[] => {
  const statements = statementsOf(template, id);
  const granted = statements.flatMap(({ Action }) => Action);
  const needed = needsOf(parts, template.Resources[id]?.Properties ?? {});
  const wide = statements.filter(({ Action, Resource }) => {
    const isWide = JSON.stringify(Resource).includes('"*"') || Action.some((action) => action.includes("*"));
    return isWide && !Action.every((action) => action.startsWith(nameless));
  });
  return [
    ...needed.filter((action) => !granted.includes(action)).map((action) => `${id} sends ${action} and may not`),
    ...granted.filter((action) => !needed.includes(action)).map((action) => `${id} may ${action} and never sends it`),
    ...wide.map(({ Action }) => `${id} may ${Action.join(", ")} on more than is named`),
  ];
};

const known: ReadonlySet<string> = new Set([
  ...settingNames.filter((name) => isReadIn("functions", name)).map(variableName),
  documentVariable,
]);

const unknownTo = (template: Template, id: string): readonly string[] =>
  variablesOf(template, id)
    .filter((name) => !known.has(name))
    .map((name) => `${id} is told ${name}, which no function reads`);

/** Lists the differences; empty where both agree. `handlers`: the functions' parts, see `handlerParts`. */
export const differencesIn = (template: Template, handlers: ReadonlyMap<string, Parts>): readonly string[] =>
  [...functionsIn(template).keys()].flatMap((id) => {
    const parts = handlers.get(id.toLowerCase());
    if (parts === undefined) return [`${id} is no function of functions/`];
    return [...rightsOf(template, id, parts), ...unknownTo(template, id)];
  });
