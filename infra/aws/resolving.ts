/** Evaluates CloudFormation's functions: the template's values once its parameters and resources are known. Pure. */
import * as z from "zod";
import type { Values } from "./parameters.ts";
import type { Template } from "./template.ts";

export type Known = {
  readonly parameters: Values;
  /** AWS' own parameters, such as `AWS::Region`. */
  readonly pseudo: Readonly<Record<string, string>>;
  /** The values of `!Ref` and of `!GetAtt` for a resource. Throw where there is none. */
  readonly ref: (id: string) => string;
  readonly attribute: (id: string, name: string) => string;
};

/** Undefined is AWS::NoValue: the field or item that holds it is left out. */
export type Resolver = { resolve(value: unknown): unknown; holds(condition: string): boolean };

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

const list = z.array(z.unknown());
const pair = z.tuple([z.unknown(), z.unknown()]);
const choice = z.tuple([z.string(), z.unknown(), z.unknown()]);
const joined = z.tuple([z.string(), z.unknown()]);
const named = z.object({ Condition: z.string() });
const texts = z.array(z.string());

class Working implements Resolver {
  readonly #known: Known;
  readonly #conditions: Fields;

  constructor(template: Template, known: Known) {
    this.#known = known;
    this.#conditions = isFields(template["Conditions"]) ? template["Conditions"] : {};
  }

  holds(name: string): boolean {
    const condition = this.#conditions[name];
    if (condition === undefined) throw new Error(`the template has no condition ${name}`);
    return this.resolve(condition) === true;
  }

  resolve(value: unknown): unknown {
    if (Array.isArray(value)) return list.parse(value).flatMap((one) => this.#present(one));
    if (!isFields(value)) return value;
    const [[name, given] = ["", undefined], ...more] = Object.entries(value);
    if (more.length === 0 && (name === "Ref" || name.startsWith("Fn::"))) return this.#called(name, given);
    const fields = Object.entries(value).map(([field, one]) => [field, this.resolve(one)] as const);
    return Object.fromEntries(fields.filter(([, one]) => one !== undefined));
  }

  #present(value: unknown): readonly unknown[] {
    const resolved = this.resolve(value);
    return resolved === undefined ? [] : [resolved];
  }

  #called(name: string, given: unknown): unknown {
    switch (name) {
      case "Ref":
        return this.#ref(z.string().parse(given));
      case "Fn::GetAtt":
        return this.#attribute(z.string().parse(given));
      case "Fn::Sub":
        return this.#filled(z.string().parse(given));
      case "Fn::If": {
        const [condition, yes, no] = choice.parse(given);
        return this.resolve(this.holds(condition) ? yes : no);
      }
      case "Fn::Equals": {
        const [one, other] = pair.parse(list.parse(given).map((each) => this.resolve(each)));
        return String(one) === String(other);
      }
      case "Fn::Not":
        return this.resolve(list.parse(given)[0]) !== true;
      case "Fn::And":
        return list.parse(given).every((each) => this.holds(named.parse(each).Condition));
      case "Fn::Join": {
        const [between, parts] = joined.parse(given);
        return texts.parse(this.resolve(parts)).join(between);
      }
      default:
        throw new Error(`${name} is not worked out here`);
    }
  }

  #ref(name: string): unknown {
    if (name === "AWS::NoValue") return undefined;
    const { parameters, pseudo, ref } = this.#known;
    return parameters[name] ?? pseudo[name] ?? ref(name);
  }

  #attribute(path: string): string {
    const [id = "", ...name] = path.split(".");
    return this.#known.attribute(id, name.join("."));
  }

  #filled(text: string): string {
    const filled = text.replaceAll(/\$\{([A-Za-z0-9:.]+)\}/g, (_, name: string) =>
      name.includes(".") ? this.#attribute(name) : String(this.#ref(name)),
    );
    // What begins with an exclamation mark stands as it is, without the mark.
    return filled.replaceAll("${!", "${");
  }
}

export const resolverOf = (template: Template, known: Known): Resolver => new Working(template, known);

const rules = z
  .record(
    z.string(),
    z.object({
      RuleCondition: z.unknown(),
      Assertions: z.array(z.object({ Assert: z.unknown(), AssertDescription: z.string() })),
    }),
  )
  .default({});

const none = (id: string): never => {
  throw new Error(`a rule may not ask for the resource ${id}`);
};

/** The template's rules that these values break. */
export const brokenRules = (template: Template, parameters: Values): readonly string[] => {
  const resolver = resolverOf(template, { parameters, pseudo: {}, ref: none, attribute: none });
  return Object.values(rules.parse(template["Rules"]))
    .filter(({ RuleCondition }) => RuleCondition === undefined || resolver.resolve(RuleCondition) === true)
    .flatMap(({ Assertions }) => Assertions)
    .filter(({ Assert }) => resolver.resolve(Assert) !== true)
    .map(({ AssertDescription }) => AssertDescription);
};
