import { truncated } from '../../../base/index.ts';

/** Path of a field inside an object: property names and array indices from the root. */
export type FieldPath = readonly (string | number)[];

const plainProperty = /^[A-Za-z_][A-Za-z0-9_]{0,319}$/;

/** A path as Kubernetes' field.Path: `spec.items[0].name`, and `metadata.annotations[example.com/key]` for other keys. */
export function formatFieldPath(path: FieldPath): string {
  let text = '';
  for (const segment of path) {
    const key = String(segment);
    if (plainProperty.test(key)) {
      text += text === '' ? key : `.${key}`;
    } else {
      text += `[${truncated(key, 320).replaceAll(/\p{Cc}/gu, '\ufffd')}]`;
    }
  }
  return text;
}

/** Why an object cannot be converted; `path` is the field, in the version that the step started from. */
export class ConversionError extends Error {
  readonly path: FieldPath;

  constructor(path: FieldPath, message: string) {
    super(message);
    this.path = path;
  }
}
