import { type Bytes, bytesOf, invalidAt, quoted, textOf } from '../../../base/go-text/index.ts';
import { compilePattern, type Pattern, PatternError } from '../../../kubernetes/schema/index.ts';
import { NotKnown } from '../../world/not-known.ts';
import { type Budget, FunctionError } from '../budget.ts';
import { List } from '../values/values.ts';
import { define, type Functions, ignoring } from './define.ts';
import { numberOf } from './strings.ts';

/** Compiles a pattern. sprig panics with the pattern where the name of a function does not start with must. */
function compiled(budget: Budget, source: Bytes, panics: boolean): Pattern {
  budget.read(source.length * 100);
  if (invalidAt(source) !== -1) {
    throw new NotKnown('the template has a pattern that is not UTF-8', { remedy: 'write it as \\x{…}' });
  }
  try {
    return compilePattern(textOf(source));
  } catch (error) {
    if (!(error instanceof PatternError)) {
      throw error;
    }
    const message = bytesOf(error.message);
    const literal = source.includes('`') ? quoted(source) : `\`${source}\``;
    throw new FunctionError(panics ? `regexp: Compile(${literal}): ${message}` : message);
  }
}

/** A text that is searched: each search costs what is left of it, times the size of the pattern. */
class Search {
  readonly budget: Budget;
  readonly source: Bytes;
  readonly text: string;
  readonly #pattern: Pattern;
  readonly #matcher;

  constructor(budget: Budget, source: Bytes, text: Bytes, panics: boolean) {
    this.budget = budget;
    this.source = source;
    this.text = textOf(text);
    this.#pattern = compiled(budget, source, panics);
    this.budget.read(this.text.length * this.#pattern.size);
    this.#matcher = this.#pattern.expression.matcher(this.text);
  }

  get names(): Readonly<Record<string, number>> {
    return this.#pattern.expression.namedGroups() as Readonly<Record<string, number>>;
  }

  /** The groups of the first match from an index: start and end of each, -1 where a group has no part in it. */
  from(index: number): number[] | undefined {
    this.budget.spend(1);
    if (!this.#matcher.find(index)) {
      return undefined;
    }
    this.budget.read((this.text.length - index) * this.#pattern.size);
    const groups: number[] = [];
    for (let group = 0; group <= this.#matcher.groupCount(); group++) {
      groups.push(this.#matcher.start(group), this.#matcher.end(group));
    }
    return groups;
  }

  /** The groups of each match; a match of nothing right after another one does not count. */
  *matches(): Generator<readonly number[]> {
    let before = -1;
    for (let at = 0; at <= this.text.length; ) {
      const groups = this.from(at);
      if (groups === undefined) {
        return;
      }
      const [start, end = 0] = groups;
      const isEmpty = end === at;
      if (!isEmpty || start !== before) {
        yield groups;
      }
      const width = (this.text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
      at = isEmpty ? at + width : end;
      before = end;
    }
  }

  replaced(replacement: (groups: readonly number[]) => string): Bytes {
    const parts: string[] = [];
    let last = 0;
    for (const groups of this.matches()) {
      const part = replacement(groups);
      this.budget.write(part.length);
      parts.push(this.text.slice(last, groups[0]), part);
      last = groups[1] ?? 0;
    }
    const result = bytesOf(parts.join('') + this.text.slice(last));
    this.budget.write(result.length);
    return result;
  }
}

const limitOf = (count: bigint): number => (count < 0n ? Number.POSITIVE_INFINITY : numberOf(count));

function allOf(search: Search, count: bigint): List {
  const matches = search.matches().take(limitOf(count));
  const found = Array.from(matches, ([start, end]) => bytesOf(search.text.slice(start, end)));
  return new List(found, 'string', found.length === 0);
}

const reference = /\$(?:(\$)|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu;

/** A replacement with `$1`, `${1}` and `$name` expanded, as Regexp.Expand. */
function replaced(search: Search, replacement: Bytes): Bytes {
  const template = textOf(replacement);
  const { text, names } = search;
  return search.replaced((groups) => {
    // Each reference is expanded by a function.
    search.budget.read(template.length * 20);
    return template.replaceAll(reference, (_, dollar?: string, braced?: string, bare?: string) => {
      const name = braced ?? bare ?? '';
      const index = /^(?:0|[1-9][0-9]*)$/.test(name) ? Number(name) : (names[name] ?? -1);
      const start = groups[2 * index] ?? -1;
      return dollar ?? (start === -1 ? '' : text.slice(start, groups[2 * index + 1]));
    });
  });
}

function split(search: Search, count: bigint): List {
  if (count === 0n) {
    return new List([], 'string', true);
  }
  if (search.source !== '' && search.text === '') {
    return new List([''], 'string');
  }
  const limit = limitOf(count);
  const parts: Bytes[] = [];
  let begin = 0;
  let end = 0;
  for (const [start = 0, after = 0] of search.matches().take(limit)) {
    if (parts.length === limit - 1) {
      break;
    }
    end = start;
    if (after !== 0) {
      parts.push(bytesOf(search.text.slice(begin, end)));
    }
    begin = after;
  }
  if (end !== search.text.length) {
    parts.push(bytesOf(search.text.slice(begin)));
  }
  return new List(parts, 'string');
}

/** Both names of a function that takes a pattern, a text and `extra`: only the one without must panics. */
function both(
  name: string,
  extra: readonly ('int' | 'string')[],
  run: (search: Search, value: never) => Bytes | List,
): Functions {
  const make = (panics: boolean) =>
    define(['string', 'string', ...extra], (args: readonly unknown[], budget) => {
      const [source, text, value] = args as [Bytes, Bytes, never];
      return run(new Search(budget, source, text, panics), value);
    });
  return { [name]: make(true), [`mustR${name.slice(1)}`]: make(false) };
}

const matches = (budget: Budget, source: Bytes, text: Bytes): boolean =>
  new Search(budget, source, text, false).from(0) !== undefined;

export const patternFunctions: Functions = {
  regexMatch: define(['string', 'string'], ([source, text], budget) =>
    ignoring(false, () => matches(budget, source, text)),
  ),
  mustRegexMatch: define(['string', 'string'], ([source, text], budget) => matches(budget, source, text)),
  ...both('regexFindAll', ['int'], allOf),
  ...both('regexFind', [], (search) => {
    const [start = 0, end = 0] = search.from(0) ?? [];
    return bytesOf(search.text.slice(start, end));
  }),
  ...both('regexReplaceAll', ['string'], replaced),
  ...both('regexReplaceAllLiteral', ['string'], (search, replacement: Bytes) => {
    const literal = textOf(replacement);
    return search.replaced(() => literal);
  }),
  ...both('regexSplit', ['int'], split),
  regexQuoteMeta: define(['string'], ([text]) => text.replaceAll(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
};
