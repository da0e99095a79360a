import { examine, type SchemaError, type SchemaViolation } from './examine.ts';
import type { Version } from './names.ts';
import { schemaErrors as v1alpha1 } from './v1alpha1-errors.generated.ts';
import type { ExtensionConfig } from './v1beta2.generated.ts';
import { schemaErrors as v1beta2 } from './v1beta2-errors.generated.ts';

interface Decoded {
  /** Without values of the wrong JSON type (or null) and values that exceed a limit of the schema; such items become empty. */
  object: ExtensionConfig;
  /** The same, including values that exceed a limit, for the rules that must agree with a webhook without limits. */
  whole: ExtensionConfig;
  /** Wrong types first: at most `maxViolations` of these, and as many others. */
  violations: readonly SchemaViolation[];
}

const schemas: Readonly<Record<Version, (object: unknown) => readonly SchemaError[] | undefined>> = {
  v1alpha1,
  v1beta2,
};

/** The object with `metadata`, which its type requires: decoders treat an absent one as empty. */
function typed(object: Record<string, unknown>): ExtensionConfig {
  return (object.metadata === undefined ? { ...object, metadata: {} } : object) as unknown as ExtensionConfig;
}

/** Decodes an object that claims to be an ExtensionConfig of `version`, in linear time. Never throws, nor modifies the input. */
export function decodeExtensionConfig(object: Record<string, unknown>, version: Version): Decoded {
  const errors = schemas[version](object);
  const { limited, whole, violations } =
    errors === undefined ? { limited: object, whole: object, violations: [] } : examine(object, errors);
  const decoded = typed(whole);
  return { object: limited === whole ? decoded : typed(limited), whole: decoded, violations };
}
