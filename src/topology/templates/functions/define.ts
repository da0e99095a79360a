import type { Bytes } from '../../../base/go-text/index.ts';
import { type Budget, FunctionError } from '../budget.ts';
import {
  anyType,
  type Dict,
  dictType,
  type List,
  type Operand,
  operandType,
  type TemplateFunction,
  type Value,
} from '../values/values.ts';

export type Functions = Readonly<Record<string, TemplateFunction>>;

/** Go's types of parameters, by a short name. */
const types = {
  any: anyType,
  bool: 'bool',
  dict: dictType,
  float: 'float64',
  int: 'int',
  list: '[]interface {}',
  operand: operandType,
  string: 'string',
} as const;
type Name = keyof typeof types;

interface Arguments {
  any: Value;
  bool: boolean;
  dict: Dict;
  float: number;
  int: bigint;
  list: List;
  operand: Operand;
  string: Bytes;
}
type ArgumentsOf<P extends readonly string[]> = P extends readonly [infer First, ...infer Others extends string[]]
  ? First extends Name
    ? [Arguments[First], ...ArgumentsOf<Others>]
    : First extends `...${infer Rest extends Name}`
      ? Arguments[Rest][]
      : never
  : [];
export type Parameter = Name | `...${Name}`;

/** A function by the types of its parameters. `defineAny` is for one whose result Go declares as `interface {}`. */
export function define<const P extends readonly Parameter[]>(
  parameters: P,
  call: (args: ArgumentsOf<[...P]>, budget: Budget) => Operand | null,
  isAny = false,
): TemplateFunction {
  const kinds = parameters.map((name) => name.replace('...', '') as Name);
  const isVariadic = parameters.at(-1)?.startsWith('...') === true;
  const all = kinds.map((kind) => types[kind]);
  return {
    parameters: isVariadic ? all.slice(0, -1) : all,
    rest: isVariadic ? all.at(-1) : undefined,
    isAny,
    call(args, budget) {
      const values = args.map((value, index) => {
        const kind = kinds[Math.min(index, kinds.length - 1)];
        return kind === 'any' ? (value ?? null) : value;
      });
      return call(values as ArgumentsOf<[...P]>, budget) ?? undefined;
    },
  };
}

export const defineAny: typeof define = (parameters, call) => define(parameters, call, true);

/** The same functions with a word before their names. */
export const alsoAs = (before: string, functions: Functions): Functions =>
  Object.fromEntries(
    Object.entries(functions).map(([name, one]) => [`${before}${name.charAt(0).toUpperCase()}${name.slice(1)}`, one]),
  );

/** Runs a function whose error sprig ignores. */
export function ignoring<T>(fallback: T, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof FunctionError) {
      return fallback;
    }
    throw error;
  }
}
