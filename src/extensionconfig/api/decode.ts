import { examine, type SchemaError, type SchemaViolation } from './examine.ts';
import type { Version } from './names.ts';
import { schemaErrors as v1alpha1 } from './v1alpha1-errors.generated.ts';
import type { ExtensionConfig } from './v1beta2.generated.ts';
import { schemaErrors as v1beta2 } from './v1beta2-errors.generated.ts';

interface Decoded {
  /**
   * The object, without values of the wrong JSON type (or null) and values that exceed a limit of the schema; such
   * items of an array become empty instead. So the static types are correct, and work on the object is bounded. Both
   * versions decode to the same type: they differ only in conditions, which no rule reads.
   */
  object: ExtensionConfig;
  /** The same, including values that exceed a limit, for the rules that must agree with a webhook without limits. */
  whole: ExtensionConfig;
  /** Wrong types first: at most `maxViolations` of these, and as many others. */
  violations: readonly SchemaViolation[];
}

const none: readonly SchemaViolation[] = [];

/** The compiled schemas: all errors of an object, or undefined. */
const schemas: Readonly<Record<Version, (object: unknown) => readonly SchemaError[] | undefined>> = {
  v1alpha1,
  v1beta2,
};

/** The object with `metadata`, which its type requires: decoders treat an absent one as empty. */
function typed(object: Record<string, unknown>): ExtensionConfig {
  return (object.metadata === undefined ? { ...object, metadata: {} } : object) as unknown as ExtensionConfig;
}

/**
 * Decodes a JSON object that claims to be an ExtensionConfig of `version`. Never throws. The input is not modified, and
 * is returned itself if it matches its schema. Time is linear in the size of the object.
 */
export function decodeExtensionConfig(object: Record<string, unknown>, version: Version): Decoded {
  const errors = schemas[version](object);
  if (errors === undefined) {
    const whole = typed(object);
    return { object: whole, whole, violations: none };
  }
  const { limited, whole, violations } = examine(object, errors);
  const limitedConfig = typed(limited);
  return { object: limitedConfig, whole: whole === limited ? limitedConfig : typed(whole), violations };
}
