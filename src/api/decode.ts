import { examine, type SchemaViolation } from './examine.ts';
import { isOfFormat } from './formats.ts';
import type { Version } from './names.ts';
import { ownSchemaOf } from './own-schema.ts';
import { fits as v1alpha1 } from './v1alpha1-fits.ts';
import type { ExtensionConfig } from './v1beta2.ts';
import { fits as v1beta2 } from './v1beta2-fits.ts';

/** An object of either version as the rest of the program sees it. */
export interface Decoded {
  /**
   * The object. What has the wrong JSON type (or is null), and what is over a limit of its schema, is absent from it, or
   * empty where it is an array's item, so that the types are true and work on it is bounded. Both versions decode to the
   * same type: they differ only in conditions, which no rule reads.
   */
  object: ExtensionConfig;
  /** The same with what is over a limit, for the rules that must agree with a webhook that knows no limits. */
  whole: ExtensionConfig;
  /** Wrong types first; at most `maxViolations` of these, and as many others. */
  violations: readonly SchemaViolation[];
}

const none: readonly SchemaViolation[] = [];

/** The schemas compiled, which decide. That an object fits says nothing about its static type: they are no type guards. */
const fitters: Readonly<Record<Version, (object: unknown) => boolean>> = { v1alpha1, v1beta2 };

/** Whether an object fits the schema of a version. */
export function fitsSchema(object: Record<string, unknown>, version: Version): boolean {
  return fitters[version](object);
}

/** The object with the metadata that its type promises: every object has some, and a decoder need not be told. */
function typed(object: Record<string, unknown>): ExtensionConfig {
  const { metadata } = object;
  const hasMetadata = typeof metadata === 'object' && metadata !== null;
  return (hasMetadata ? object : { ...object, metadata: {} }) as unknown as ExtensionConfig;
}

/**
 * Decodes a JSON object that claims to be an ExtensionConfig of `version`. Never throws. The input is not changed, and
 * is itself the result when it fits its schema. Time is linear in the size of the object.
 */
export function decodeExtensionConfig(object: Record<string, unknown>, version: Version): Decoded {
  if (fitters[version](object)) {
    const whole = typed(object);
    return { object: whole, whole, violations: none };
  }
  const { limited, whole, violations } = examine(object, ownSchemaOf(version), isOfFormat);
  const limitedConfig = typed(limited);
  return { object: limitedConfig, whole: whole === limited ? limitedConfig : typed(whole), violations };
}
