/** A template that does not work, or takes too much work. The message is Go's, where Go has one. */
export class TemplateError extends Error {}

/** Why a function failed; the evaluator adds which one. */
export class FunctionError extends Error {}

export const maxOutputBytes = 1_048_576;
export const maxSteps = 100_000;
export const maxDepth = 100;

/** Bytes that may be read or written in one step. */
const bytesPerStep = 256;

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

  /** Pays for reading this many bytes. */
  read(bytes: number): void {
    if (bytes >= bytesPerStep) {
      this.spend(Math.ceil(bytes / bytesPerStep));
    }
  }
}
