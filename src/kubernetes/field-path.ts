/** Path of a field inside an object: property names and array indices from the root. */
export type FieldPath = readonly (string | number)[];

const plainProperty = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * A path in the form of Kubernetes' field.Path: `spec.items[0].name`, and `metadata.annotations[example.com/key]` for
 * keys that are no plain identifiers.
 */
export function formatFieldPath(path: FieldPath): string {
  let text = '';
  for (const segment of path) {
    if (typeof segment === 'number' || !plainProperty.test(segment)) {
      text += `[${segment}]`;
    } else {
      text += text === '' ? segment : `.${segment}`;
    }
  }
  return text;
}
