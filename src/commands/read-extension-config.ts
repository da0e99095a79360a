import {
  apiVersionOf,
  decodeExtensionConfig,
  type ExtensionConfig,
  hubVersion,
  kind,
  versionOf,
} from '../api/index.ts';
import { UsageError } from '../cli/index.ts';
import { ConversionError, extensionConfigConverter } from '../conversion/index.ts';
import { dns1123LabelProblems, type JsonObject } from '../kubernetes/index.ts';
import { withoutControls } from '../terminal/index.ts';

/**
 * An object as v1beta2.
 *
 * @param where names its place in messages.
 * @throws {UsageError} for one that cannot be read as an ExtensionConfig.
 */
export function readExtensionConfig(object: JsonObject, where: string): ExtensionConfig {
  const version = versionOf(object.apiVersion);
  if (version === undefined) {
    throw new UsageError(`${where}: ${kind} of an unknown apiVersion: write ${apiVersionOf(hubVersion)}`);
  }
  let current = object;
  try {
    current = extensionConfigConverter.convert(object, apiVersionOf(hubVersion));
  } catch (error) {
    if (error instanceof ConversionError) {
      throw new UsageError(`${where}: ${error.path.join('.')} ${error.message}`);
    }
    throw error;
  }
  const { object: config, violations } = decodeExtensionConfig(current, hubVersion);
  const [wrong] = violations.filter(({ problem }) => problem === 'type');
  if (wrong !== undefined) {
    throw new UsageError(`${where}: ${wrong.path.join('.')} ${wrong.message}; "lint" reports everything that is wrong`);
  }
  const name = config.metadata.name ?? '';
  if (dns1123LabelProblems(name).length > 0) {
    throw new UsageError(
      `${where}: metadata.name ${JSON.stringify(withoutControls(name.slice(0, 100)))} is not a DNS label`,
    );
  }
  return config;
}
