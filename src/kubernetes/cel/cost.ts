import type { ASTNode, Environment } from '@marcbachmann/cel-js';

/** What one expression may cost, and all of an object or a variable (apiserver, PerCallLimit and RuntimeCELCostBudget). */
export const maxCallCost = 1_000_000;
export const maxObjectCost = 10_000_000;
/** What all match conditions of a webhook may cost (RuntimeCELCostBudgetMatchConditions). */
export const maxConditionsCost = maxObjectCost / 4;

/** The cost of a step of a macro beside that of its body: what cel-go's expansion of it evaluates. */
const loops: Readonly<Record<string, number>> = { all: 3, exists: 4, exists_one: 2, existsOne: 2, filter: 13, map: 12 };

/** Methods whose cost depends on the length of the text that they are called on: a factor. */
const methods: Readonly<Record<string, number>> = {
  ...{ startsWith: 0.1, endsWith: 0.1, lowerAscii: 0.1, upperAscii: 0.1, substring: 0.1, trim: 0.1, replace: 0.2 },
  ...{ split: 0.2, join: 1, indexOf: 1, lastIndexOf: 1 },
};

/** Methods that have a linear, counting replacement. */
const replaced = new Set(['matches', 'contains']);

const comparisons = new Set(['==', '!=', '<', '<=', '>', '>=']);

const isNode = (part: unknown): part is ASTNode =>
  typeof part === 'object' && part !== null && 'op' in part && 'args' in part && 'range' in part;

export const partsOf = ({ args }: ASTNode): ASTNode[] =>
  (Array.isArray(args) ? args.flat(2) : [args]).filter((part): part is ASTNode => isNode(part));

function literalSize({ op, args }: ASTNode): number | undefined {
  return op === 'value' ? (typeof args === 'string' ? args.length : 0) : op === 'list' ? args.length : undefined;
}

function unmatched(text: string, from: number, to: number): { before: number; after: number } {
  let [open, before] = [0, 0];
  for (const [character] of text.slice(from, to).matchAll(/[()]/g)) {
    open += character === '(' ? 1 : -1;
    if (open < 0) {
      before++;
      open = 0;
    }
  }
  return { before, after: open };
}

/**
 * What an expression costs at least once, and its text with calls that count: `steps_(COST, BODY)` for each step of a macro,
 * `sized_(FACTOR, VALUE)` where a cost depends on the size of a value, `listed_(VALUE)` where on that of a list (`in`). `matches`
 * and `contains` become functions that count. Costs are those of cel-go (interpreter/runtimecost.go) and of the API server's
 * functions (pkg/cel/library/cost.go), never less: both branches of conditions count.
 */
export function counted(expression: string, environment: Environment): { text: string; cost: number } {
  const opened = new Map<number, (() => string)[]>();
  const closed = new Map<number, number>();
  const renamed = new Map<number, string>();
  const { ast } = environment.parse(expression);
  const nodes: ASTNode[] = [ast];
  let masked = expression;
  for (const node of nodes) {
    nodes.push(...partsOf(node));
  }
  // Parentheses in texts do not count, and ranges do not have the parentheses around them.
  const pieces: string[] = [];
  let done = 0;
  const texts = nodes.filter(({ op, args }) => op === 'value' && typeof args !== 'number');
  for (const { range } of texts.sort((a, b) => a.range.start - b.range.start)) {
    pieces.push(expression.slice(done, range.start), ' '.repeat(range.end - range.start));
    done = range.end;
  }
  masked = pieces.join('') + expression.slice(done);

  const wrap = ({ range }: ASTNode, opening: () => string): void => {
    let { start, end } = range;
    const { before, after } = unmatched(masked, start, end);
    for (let left = before; left > 0; left--) {
      start = masked.lastIndexOf('(', start - 1);
    }
    for (let left = after; left > 0; left--) {
      end = masked.indexOf(')', end) + 1;
    }
    opened.set(start, [...(opened.get(start) ?? []), opening]);
    closed.set(end, (closed.get(end) ?? 0) + 1);
  };
  const sized = (node: ASTNode, factor: number): number => {
    const size = literalSize(node);
    if (size === undefined) {
      wrap(node, () => `sized_(${factor.toFixed(1)}, `);
    }
    return Math.ceil((size ?? 0) * factor);
  };

  const total = { cost: 0 };
  /** Each with what counts it, and the number of additions around it. */
  const open: { node: ASTNode; count: { cost: number }; additions: number }[] = [
    { node: ast, count: total, additions: 0 },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, count, additions } = next;
    const { op, args } = node;
    let parts = partsOf(node);
    if (additions > 0 && op !== '+') {
      count.cost += sized(node, additions / 10);
    }
    if (op === 'list' || op === 'map') {
      count.cost += op === 'list' ? 10 : 30;
    } else if (!['value', '?:', '&&', '||'].includes(op)) {
      count.cost++;
    }
    if (comparisons.has(op)) {
      const [left, right] = parts as [ASTNode, ASTNode];
      count.cost += sized(literalSize(left) === undefined && literalSize(right) !== undefined ? right : left, 0.1);
    } else if (op === 'in') {
      const container = parts[1] as ASTNode;
      const size = literalSize(container);
      count.cost += size ?? 0;
      if (size === undefined) {
        wrap(container, () => 'listed_(');
      }
    } else if (op === 'call' && args[0] === 'duration' && args[1][0] !== undefined) {
      wrap(args[1][0], () => 'shortText(');
    } else if (op === 'rcall') {
      const [name, receiver, given] = args;
      const step = given.length > 1 ? loops[name] : undefined;
      if (step !== undefined) {
        const body = { cost: step };
        const [, first, ...more] = given as [ASTNode, ASTNode, ...ASTNode[]];
        wrap(first, () => `steps_(${body.cost}, `);
        open.push(...[first, ...more].map((part) => ({ node: part, count: body, additions: 0 })));
        parts = [receiver];
      } else if (replaced.has(name)) {
        renamed.set(masked.indexOf(name, receiver.range.end), name);
      } else if (methods[name] !== undefined) {
        count.cost += sized(receiver, methods[name]);
      }
    }
    const around = op === '+' ? additions + 1 : 0;
    open.push(...parts.map((part) => ({ node: part, count, additions: around })));
  }

  const places = [...new Set([...opened.keys(), ...closed.keys(), ...renamed.keys()])].sort((a, b) => a - b);
  let [text, at] = ['', 0];
  for (const place of places) {
    const name = renamed.get(place) ?? '';
    const openings = (opened.get(place) ?? []).map((opening) => opening()).join('');
    const own = name === '' ? '' : `${name}Counted`;
    text += `${expression.slice(at, place)}${')'.repeat(closed.get(place) ?? 0)}${openings}${own}`;
    at = place + name.length;
  }
  return { text: text + expression.slice(at), cost: total.cost };
}

/** The size of a value as cel-go counts it; 0 for what has none. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array) {
    return value.length;
  }
  if (value instanceof Map) {
    return value.size;
  }
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    ? Object.keys(value).length
    : 0;
}
