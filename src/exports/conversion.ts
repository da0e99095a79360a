import './node-version.ts';
import { apiVersionOf, convert, isVersion, kind, versionOf, versions } from '../extensionconfig/index.ts';
import { ConversionError, formatFieldPath, isJsonObject } from '../kubernetes/index.ts';

/** An ExtensionConfig as parsed from YAML or JSON. */
export type ExtensionConfigObject = Record<string, unknown>;

/** Versions of ExtensionConfig that convert to each other, oldest first. */
export const extensionConfigVersions: readonly ('v1alpha1' | 'v1beta2')[] = versions;

/**
 * Converts an ExtensionConfig into another version, as the conversion webhook does: what that cannot represent is kept in an
 * annotation, and restored by the conversion back. The object is not modified.
 *
 * @throws {TypeError} when the object is not an ExtensionConfig of a known version.
 * @throws {RangeError} for another `version`, or a field that cannot be converted; the message names it.
 */
export function convertExtensionConfig(object: unknown, version: 'v1alpha1' | 'v1beta2'): ExtensionConfigObject {
  if (!isVersion(version)) {
    throw new RangeError(`version: ${JSON.stringify(version)} is not one of ${versions.join(', ')}`);
  }
  if (!isJsonObject(object) || versionOf(object.apiVersion) === undefined || object.kind !== kind) {
    throw new TypeError(`not an ${kind} of apiVersion ${versions.map(apiVersionOf).join(' or ')}`);
  }
  try {
    return convert(object, apiVersionOf(version));
  } catch (error) {
    if (error instanceof ConversionError) {
      throw new RangeError(`${formatFieldPath(error.path)}: ${error.message}`);
    }
    throw error;
  }
}
