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
export const maxDepth = 100;
/** Tokens of a template, but for spaces. */
export const maxTokens = 100_000;

/** Bytes that may be read or written in one step. */
const bytesPerStep = 100;

/** Longest text that is found in another one in linear time, by V8's search. */
const maxQuickSearch = 250;

/** Deepest nesting of a value: deeper YAML is not read either. */
export const maxNesting = 256;

/** The work that one rendering has done. Everything that takes time or memory is paid for before it is done. */
interface Work {
  steps: number;
  nesting: number;
}

/** The rendering that runs: it waits for nothing, but what it reads may render another template. */
let work: Work = { steps: 0, nesting: 0 };

/** Runs a rendering with a budget of its own. */
export function limited<T>(run: () => T): T {
  const outer = work;
  work = { steps: 0, nesting: 0 };
  try {
    return run();
  } finally {
    work = outer;
  }
}

export function spend(count: number): void {
  work.steps += count;
  if (work.steps > maxSteps) {
    throw tooMuch(`the template takes more than ${maxSteps} steps`);
  }
}

/** Runs one level of a recursion over values. */
export function nested<T>(run: () => T): T {
  spend(1);
  if (work.nesting >= maxNesting) {
    throw tooMuch(`a value nests deeper than ${maxNesting} levels`);
  }
  work.nesting++;
  try {
    return run();
  } finally {
    work.nesting--;
  }
}

/** Pays for reading this many bytes. */
export function read(bytes: number): void {
  if (bytes >= bytesPerStep) {
    spend(Math.ceil(bytes / bytesPerStep));
  }
}

/** Refuses a text of this many bytes if it is larger than the output may be. */
export function checkLength(bytes: number): void {
  if (bytes > maxOutputBytes) {
    throw tooMuch(`the template makes a text of more than ${maxOutputBytes} bytes`);
  }
}

/** Pays for a text of this many bytes, which may not be larger than the output. */
export function write(bytes: number): void {
  checkLength(bytes);
  read(bytes);
}

/** Pays for looking for a part of a text. A long one may be compared at each place. */
export function search(text: string, part: string): void {
  if (part.length > maxQuickSearch) {
    read(Math.max(text.length - part.length, 1) * part.length);
  }
}
