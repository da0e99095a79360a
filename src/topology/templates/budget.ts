import { NotKnown } from '../world/not-known.ts';

/** A template that does not work. The message is Go's. */
export class TemplateError extends Error {}

/** A template that takes more work than is done here. */
export function tooMuch(problem: string): NotKnown {
  return new NotKnown(problem, {
    remedy: 'split the template, or compute a part of it outside and pass it as a variable',
  });
}

/** Why a function failed; the evaluator adds which one. */
export class FunctionError extends TemplateError {}

/** Puts what was tried before the message of an error, as Go wraps them. */
export function within<T>(what: () => string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof TemplateError) {
      error.message = `${what()}: ${error.message}`;
    }
    throw error;
  }
}

const maxOutputBytes = 1_048_576;
const maxSteps = 100_000;
/** Levels of blocks, of `else if` after each other, of parentheses, and of templates that call each other. */
export const maxDepth = 250;
/** Tokens of a template. */
export const maxTokens = 200_000;

/** Bytes that may be read or written in one step. */
const bytesPerStep = 100;

/** Longest text that is found in another one in linear time, by V8's search. */
const maxQuickSearch = 250;

/** Deepest nesting of a value: deeper YAML is not read either. */
export const maxNesting = 256;

/** What one rendering may do. Everything that takes time or memory is paid for before it is done. */
export class Budget {
  #steps = 0;
  #nesting = 0;

  spend(count: number): void {
    this.#steps += count;
    if (this.#steps > maxSteps) {
      throw tooMuch(`the template takes more than ${maxSteps} steps`);
    }
  }

  /** Runs one level of a recursion over values. */
  nested<T>(run: () => T): T {
    this.spend(1);
    if (this.#nesting >= maxNesting) {
      throw tooMuch(`a value nests deeper than ${maxNesting} levels`);
    }
    this.#nesting++;
    try {
      return run();
    } finally {
      this.#nesting--;
    }
  }

  /** Pays for reading this many bytes. */
  read(bytes: number): void {
    if (bytes >= bytesPerStep) {
      this.spend(Math.ceil(bytes / bytesPerStep));
    }
  }

  /** Pays for this many bytes, which make a text of `total` bytes: that may not be larger than the output. */
  write(bytes: number, total = bytes): void {
    if (total > maxOutputBytes) {
      throw tooMuch(`the template makes a value of more than ${maxOutputBytes} bytes`);
    }
    this.read(bytes);
  }

  /** Pays for looking for a part of a text. A long one may be compared at each place. */
  search(text: string, part: string): void {
    if (part.length > maxQuickSearch) {
      this.read(Math.max(text.length - part.length, 1) * part.length);
    }
  }
}
