import type { FieldPath } from './field-path.ts';

/** Why an object cannot be converted; `path` is the field, in the version that the step started from. */
export class ConversionError extends Error {
  readonly path: FieldPath;

  constructor(path: FieldPath, message: string) {
    super(message);
    this.path = path;
  }
}
