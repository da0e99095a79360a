/** A template that does not work, or takes too much work. The message is Go's, where Go has one. */
export class TemplateError extends Error {}

/** Why a function failed; the evaluator adds which one. */
export class FunctionError extends Error {}

const maxOutputBytes = 1_048_576;
const maxSteps = 100_000;
export const maxDepth = 100;
/** Tokens of a template, but for spaces. */
export const maxTokens = 100_000;

/** Bytes that may be read or written in one step. */
const bytesPerStep = 100;

/** Longest text that is found in another one in linear time, by V8's search. */
const maxQuickSearch = 250;

/** Deepest nesting of a value that a function walks: only what contains itself gets there. */
const maxNesting = 1_000;

/** What a template may still do. Everything that takes time or memory is paid for before it is done. */
export class Budget {
  steps = 0;

  spend(steps: number): void {
    this.steps += steps;
    if (this.steps > maxSteps) {
      throw new TemplateError(`the template takes more than ${maxSteps} steps`);
    }
  }

  #nesting = 0;

  /** Runs one level of a recursion over values. */
  nested<T>(run: () => T): T {
    this.spend(1);
    if (this.#nesting >= maxNesting) {
      throw new TemplateError(`a value nests deeper than ${maxNesting} levels`);
    }
    this.#nesting++;
    const result = run();
    this.#nesting--;
    return result;
  }

  /** Pays for a text of this many bytes, which may not be larger than the output. */
  write(bytes: number): void {
    if (bytes > maxOutputBytes) {
      throw new TemplateError(`the template makes a text of more than ${maxOutputBytes} bytes`);
    }
    this.read(bytes);
  }

  /** Pays for looking for a part of a text. A long one may be compared at each place. */
  search(text: string, part: string): void {
    if (part.length > maxQuickSearch) {
      this.read(Math.max(text.length - part.length, 1) * part.length);
    }
  }

  /** Pays for reading this many bytes. */
  read(bytes: number): void {
    if (bytes >= bytesPerStep) {
      this.spend(Math.ceil(bytes / bytesPerStep));
    }
  }
}

/** A text that grows part by part, and may not be larger than the output. */
export class Text {
  readonly #parts: string[] = [];
  #length = 0;
  readonly #budget: Budget;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  write(part: string): void {
    this.#length += part.length;
    this.#budget.write(this.#length > maxOutputBytes ? this.#length : part.length);
    this.#parts.push(part);
  }

  toString(): string {
    return this.#parts.join('');
  }
}
